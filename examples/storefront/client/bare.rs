//! The calls as one writes them first: HTTP and a time limit.

use super::{Order, Price, ShopError};
use reqwest::{Response, StatusCode};
use std::net::SocketAddr;
use std::time::Duration;

/// Plain HTTP calls to the upstream.
pub(crate) struct Bare {
    http: reqwest::Client,
    base: String,
}

impl Bare {
    /// With a time limit for each call, or none.
    pub(crate) fn new(upstream: SocketAddr, limit: Option<Duration>) -> reqwest::Result<Self> {
        let mut http = reqwest::Client::builder().pool_max_idle_per_host(64).tcp_nodelay(true);
        if let Some(limit) = limit {
            http = http.timeout(limit);
        }
        Ok(Self { http: http.build()?, base: format!("http://{upstream}") })
    }

    /// Reads a product's price.
    pub(crate) async fn price(&self, product: u32) -> Result<Price, ShopError> {
        let url = format!("{}/products/{product}", self.base);
        let answer = accepted(self.http.get(url).send().await?)?.text().await?;
        let cents = answer.parse().map_err(|_| ShopError::Nonsense)?;
        Ok(Price { cents, stale: false })
    }

    /// Looks for products.
    pub(crate) async fn search(&self, word: u32) -> Result<(), ShopError> {
        self.get(format!("{}/search/{word}", self.base)).await
    }

    /// Asks the carrier what sending so much costs.
    pub(crate) async fn quote(&self, weight: u32) -> Result<(), ShopError> {
        self.get(format!("{}/quotes/{weight}", self.base)).await
    }

    async fn get(&self, url: String) -> Result<(), ShopError> {
        accepted(self.http.get(url).send().await?).map(|_| ())
    }

    /// Charges an order.
    pub(crate) async fn checkout(&self, order: Order) -> Result<(), ShopError> {
        let url = format!("{}/orders/{}", self.base, order.number);
        accepted(self.http.put(url).send().await?).map(|_| ())
    }
}

fn accepted(answer: Response) -> Result<Response, ShopError> {
    match answer.status() {
        StatusCode::OK => Ok(answer),
        StatusCode::PAYMENT_REQUIRED => Err(ShopError::Declined),
        status => Err(ShopError::Status(status)),
    }
}
