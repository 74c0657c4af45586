import Glibc

/// Asks for the dead children that this process has adopted, as a bench's host in a test does, and that nobody else asks for.
///
/// To be called before a test of how a process exits: Swift Testing looks for its own among all dead children, and never gets past
/// one that stays. No ``ChildProcess`` may run meanwhile.
package func reapAdopted() {
    while waitpid(-1, nil, WNOHANG) > 0 {}
}
