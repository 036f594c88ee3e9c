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
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Longer than any client waits.
const FOR_EVER: Duration = Duration::from_secs(30);

/// How long a search takes while the engine is not overloaded.
const SEARCH: Duration = Duration::from_millis(45);
/// How many searches the engine bears. With more, it spends its time on switching between them: twice as many take four
/// times as long.
const BEARS: u32 = 10;

/// What the carrier allows: so many quotes a second, and so many at once; a little more than what is agreed.
const QUOTES: (f64, f64) = (20.0, 8.0);
/// How long it answers nobody after a request above that.
const CUT_OFF: Duration = Duration::from_millis(250);

struct Shop {
    timetable: Timetable,
    start: Instant,
    serial: AtomicU64,
    searching: AtomicU32,
    quota: Mutex<Quota>,
    log: Mutex<Log>,
}

/// What the upstream has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// When each call arrived, counted from the start.
    pub(crate) arrivals: Vec<Duration>,
    /// When a call for a quote was turned away with a 429.
    pub(crate) turned_away: Vec<Duration>,
    /// When a search began, and how many there were then.
    pub(crate) searches: Vec<(Duration, u32)>,
}

/// The carrier's own account of its customer.
struct Quota {
    left: f64,
    at: Duration,
    cut_off_until: Duration,
}

impl Quota {
    /// Whether it answers.
    fn allows(&mut self, now: Duration) -> bool {
        let (per_second, at_once) = QUOTES;
        let gained = now.saturating_sub(self.at).as_secs_f64() * per_second;
        (self.left, self.at) = ((self.left + gained).min(at_once), now);
        if now < self.cut_off_until || self.left < 1.0 {
            self.cut_off_until = now + CUT_OFF;
            return false;
        }
        self.left -= 1.0;
        true
    }
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
            searching: AtomicU32::new(0),
            quota: Mutex::new(Quota {
                left: QUOTES.1,
                at: Duration::ZERO,
                cut_off_until: Duration::ZERO,
            }),
            log: Mutex::default(),
        });
        let routes = Router::new()
            .route("/products/{id}", get(product))
            .route("/search/{word}", get(search))
            .route("/quotes/{weight}", get(quote))
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

    /// Stops it, and tells what it has seen.
    pub(crate) fn stop(self) -> Log {
        let _ = self.halt.send(()); // fails only if it has ended by itself
        let _ = self.thread.join();
        std::mem::take(&mut self.shop.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shop {
    fn log(&self, write: impl FnOnce(&mut Log)) {
        write(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets the request have what the timetable has for it.
    async fn visit(&self) -> StatusCode {
        let elapsed = self.start.elapsed();
        self.log(|log| log.arrivals.push(elapsed));
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

/// `GET /search/{word}`: slower, the more search at a time.
async fn search(State(shop): State<Arc<Shop>>) -> StatusCode {
    let _counted = Searching::begin(&shop);
    match shop.visit().await {
        StatusCode::OK => {}
        failed => return failed,
    }
    let mut done = 0.0;
    while done < 1.0 {
        let step = Duration::from_millis(5);
        tokio::time::sleep(step).await;
        let load = f64::from(shop.searching.load(Ordering::Relaxed)) / f64::from(BEARS);
        done += step.as_secs_f64() / SEARCH.as_secs_f64() / load.max(1.0).powi(2);
    }
    StatusCode::OK
}

/// One search more, until it is dropped: answered, or given up by the client.
struct Searching<'a>(&'a Shop);

impl<'a> Searching<'a> {
    fn begin(shop: &'a Shop) -> Self {
        let now = shop.searching.fetch_add(1, Ordering::Relaxed) + 1;
        shop.log(|log| log.searches.push((shop.start.elapsed(), now)));
        Self(shop)
    }
}

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        self.0.searching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `GET /quotes/{weight}`: what sending so much costs, as long as nobody asks too often.
async fn quote(State(shop): State<Arc<Shop>>) -> StatusCode {
    let now = shop.start.elapsed();
    if !shop.quota.lock().unwrap_or_else(PoisonError::into_inner).allows(now) {
        shop.log(|log| {
            log.arrivals.push(now);
            log.turned_away.push(now);
        });
        return StatusCode::TOO_MANY_REQUESTS;
    }
    shop.visit().await
}

/// `PUT /orders/{number}`: charges the order. One in fifty cards is declined, whatever state the upstream is in.
async fn order(State(shop): State<Arc<Shop>>, Path(number): Path<u32>) -> StatusCode {
    match shop.visit().await {
        StatusCode::OK if number % 50 == 7 => StatusCode::PAYMENT_REQUIRED,
        status => status,
    }
}
