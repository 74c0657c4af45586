import Glibc

/// What a thread is begun with.
private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Begins a thread, which somebody is to join. No signal is handled there: signals are the event loop's.
///
/// - Parameters:
///   - subject: what errors call it.
///   - stack: its stack in bytes; nil for the system's usual.
package func beginThread(
    _ subject: String,
    stack: Int? = nil,
    _ body: @escaping @Sendable () -> Void
) throws(SystemError) -> pthread_t {
    var (all, before) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    if let stack { unsafe pthread_attr_setstacksize(&attributes, stack) }
    let work = unsafe Unmanaged.passRetained(ThreadWork(body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
        &thread,
        &attributes,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        },
        work.toOpaque()
    )
    guard code == 0 else {
        unsafe work.release()
        throw SystemError("pthread_create", code: code, subject: subject)
    }
    return thread
}
