import Foundation

/// Gives a program, or another file, a second name: a link where the disk allows it, and a copy elsewhere.
///
/// A copy is open for writing while it is made, and a process that another test forks at that moment keeps it so, so that
/// it cannot be run.
package func link(_ file: String, to path: String) throws {
    do { try FileManager.default.linkItem(atPath: file, toPath: path) } catch {
        try FileManager.default.copyItem(atPath: file, toPath: path)
    }
}
