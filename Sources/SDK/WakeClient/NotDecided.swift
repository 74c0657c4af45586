import Synchronization

private let said = Mutex<Set<String>>([])

/// Says on stderr, once in a process, what something that an app asked for does not do here.
///
/// - Parameter line: What was asked for, and what does not happen.
package func notDecided(_ line: String) {
    if said.withLock({ $0.insert(line).inserted }) { complain(line) }
}
