import CWakeShims

/// Lets SIGTERM come to this process when the thread that started it ends.
///
/// - Parameter parent: the process of that thread.
/// - Throws: ``SystemError`` with ESRCH when it did not start this one, or has ended.
package func endWithParent(_ parent: Int32) throws(SystemError) {
    guard wake_end_with_parent(parent) == 0 else { throw SystemError(last: "prctl(PR_SET_PDEATHSIG)") }
}
