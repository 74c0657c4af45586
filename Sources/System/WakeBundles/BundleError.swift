/// A bundle that cannot be installed (MODE-3): exit code 11, and 12 where the system does not let it be made.
///
/// Its text is one line, `Heart.app: CFBundleExecutable: what was found; what was expected`.
package struct BundleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the bundle as it was given.
    package var bundle: String
    /// The key of Info.plist, or the file of the bundle, that is wrong; empty for the bundle itself.
    package var key = ""
    /// What is there.
    package var found: String
    /// What would be right.
    package var expected: String

    /// Whether it is the system that refuses, such as on a full disk.
    package var isOfSystem = false

    package init(bundle: String, key: String = "", found: String, expected: String, isOfSystem: Bool = false) {
        self.isOfSystem = isOfSystem
        self.bundle = bundle
        self.key = key
        self.found = found
        self.expected = expected
    }

    package var description: String {
        "\(bundle): \(key.isEmpty ? "" : key + ": ")\(found); expected \(expected)"
    }
}
