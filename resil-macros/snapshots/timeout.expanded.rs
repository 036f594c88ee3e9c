//! Timeout alone: what is not written does not appear.
async fn fetch(mut conn: Conn, key: &str) -> io::Result<impl Stream<Item = u8>> {
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::fetch"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::fetch"), [& __RESIL_TIMEOUT]
        .asynchronous()
    );
    let __resil_outcome: ::core::result::Result<
        io::Result<_>,
        ::resil::__private::Rejected,
    > = ::resil::__private::limited(
            &mut (),
            ::resil::__private::Timeout::limit(&__RESIL_TIMEOUT),
            async {
                const LIMIT: usize = 10;
                if let ::core::option::Option::Some(__resil_edge) = ::resil::__private::edge::<
                    io::Result<_>,
                >() {
                    _ = &mut conn;
                    return __resil_edge;
                }
                conn.get(key, LIMIT).await
            },
        )
        .await;
    match __resil_outcome {
        ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
        ::core::result::Result::Err(__resil_rejected) => {
            <io::Result<
                _,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected)
        }
    }
}
