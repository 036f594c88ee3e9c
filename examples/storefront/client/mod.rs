//! The shop's client for its upstream, twice: bare, and guarded by `resil`.

mod bare;
mod guarded;

use reqwest::StatusCode;
use resil::{Classify, Rejected};
use std::time::Duration;

pub(crate) use bare::Bare;
pub(crate) use guarded::Guarded;

/// The longest that a customer waits: the bare client's time limit, and the guarded functions' deadline.
pub(crate) const LIMIT: Duration = Duration::from_secs(1);

/// A product's price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) cents: u32,
    /// Whether it is the last one known, because the upstream could not be asked.
    pub(crate) stale: bool,
}

/// A customer's order. Its number makes it safe to send again: the upstream charges a number once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) number: u32,
}

/// What a customer wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// To see a product.
    Product(u32),
    /// To find one.
    Search(u32),
    /// To know what sending it costs.
    Quote(u32),
    /// To buy it.
    Checkout(Order),
}

/// What the shop's functions fail with. How each policy takes it is said once, here.
#[derive(Debug, thiserror::Error, Classify)]
pub(crate) enum ShopError {
    #[error("the card was declined")]
    #[resil(ignore)]
    Declined,
    #[error("the upstream answered {0}")]
    #[resil(transient)]
    Status(StatusCode),
    #[error("the upstream's answer makes no sense")]
    Nonsense,
    #[error(transparent)]
    #[resil(transient)]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

/// One of the two clients.
pub(crate) enum Client {
    Bare(Bare),
    Guarded(Guarded),
}

impl Client {
    /// Serves a customer; whether the answer is a stale one.
    pub(crate) async fn serve(&self, wish: Wish) -> Result<bool, ShopError> {
        match wish {
            Wish::Product(product) => self.price(product).await.map(|price| price.stale),
            Wish::Search(word) => self.search(word).await.map(|()| false),
            Wish::Quote(weight) => self.quote(weight).await.map(|()| false),
            Wish::Checkout(order) => self.checkout(order).await.map(|()| false),
        }
    }

    async fn price(&self, product: u32) -> Result<Price, ShopError> {
        match self {
            Self::Bare(client) => client.price(product).await,
            Self::Guarded(client) => client.price(product).await,
        }
    }

    async fn search(&self, word: u32) -> Result<(), ShopError> {
        match self {
            Self::Bare(client) => client.search(word).await,
            Self::Guarded(client) => client.search(word).await,
        }
    }

    async fn quote(&self, weight: u32) -> Result<(), ShopError> {
        match self {
            Self::Bare(client) => client.quote(weight).await,
            Self::Guarded(client) => client.quote(weight).await,
        }
    }

    async fn checkout(&self, order: Order) -> Result<(), ShopError> {
        match self {
            Self::Bare(client) => client.checkout(order).await,
            Self::Guarded(client) => client.checkout(order).await,
        }
    }
}
