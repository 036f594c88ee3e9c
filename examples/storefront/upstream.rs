//! The upstream: a real HTTP server on loopback that behaves as the timetable says.
//!
//! It has a thread and a runtime of its own, so that what hangs in it takes nothing from the client. It alone counts
//! the calls that reach it.

use crate::timetable::{Behaviour, Timetable};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Longer than any client waits.
const FOR_EVER: Duration = Duration::from_secs(30);

struct Shop {
    timetable: Timetable,
    start: Instant,
    serial: AtomicU64,
    arrivals: Mutex<Vec<Duration>>,
}

/// A running upstream.
pub(crate) struct Upstream {
    address: SocketAddr,
    shop: Arc<Shop>,
    halt: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Upstream {
    /// Serves on a free port. The timetable begins at `start`.
    pub(crate) fn start(timetable: Timetable, start: Instant) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shop = Arc::new(Shop {
            timetable,
            start,
            serial: AtomicU64::new(0),
            arrivals: Mutex::default(),
        });
        let routes = Router::new()
            .route("/products/{id}", get(product))
            .route("/orders/{number}", put(order))
            .with_state(Arc::clone(&shop));
        let (halt, told_to_halt) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let serving = async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, routes).await
            };
            runtime.block_on(async {
                tokio::select! {
                    ended = serving => eprintln!("the upstream stopped: {ended:?}"),
                    _ = told_to_halt => {}
                }
            });
            // Dropping the runtime drops every connection with what still hangs in it.
        });
        Ok(Self { address, shop, halt, thread })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, and tells when each call arrived, counted from the start.
    pub(crate) fn stop(self) -> Vec<Duration> {
        let _ = self.halt.send(()); // fails only if it has ended by itself
        let _ = self.thread.join();
        std::mem::take(&mut self.shop.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shop {
    /// Lets the request have what the timetable has for it.
    async fn visit(&self) -> StatusCode {
        let elapsed = self.start.elapsed();
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(elapsed);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let (work, status) = match self.timetable.behaviour(elapsed, serial) {
            Behaviour::Serve(work) => (work, StatusCode::OK),
            Behaviour::Fail(work) => (work, StatusCode::SERVICE_UNAVAILABLE),
            Behaviour::Hang => (FOR_EVER, StatusCode::GATEWAY_TIMEOUT),
        };
        tokio::time::sleep(work).await;
        status
    }
}

/// `GET /products/{id}`: the price in cents.
async fn product(State(shop): State<Arc<Shop>>, Path(id): Path<u32>) -> (StatusCode, String) {
    (shop.visit().await, format!("{}", 499 + id * 37 % 4_000))
}

/// `PUT /orders/{number}`: charges the order. One in fifty cards is declined, whatever state the upstream is in.
async fn order(State(shop): State<Arc<Shop>>, Path(number): Path<u32>) -> StatusCode {
    match shop.visit().await {
        StatusCode::OK if number % 50 == 7 => StatusCode::PAYMENT_REQUIRED,
        status => status,
    }
}
