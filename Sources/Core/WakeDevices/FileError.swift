/// A device or scenario file that cannot be used: exit code 11.
///
/// Its text is one line, `file:line: what was found; what was expected`.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    package var file: String
    /// Counted from 1; 0 when the whole file is meant.
    package var line: Int
    /// Counted from 1, in characters; 0 where only the line is known.
    package var column = 0
    /// What stands there.
    package var found: String
    /// What would be right.
    package var expected: String

    package var description: String {
        let place = line > 0 ? "\(file):\(line)" : file
        // A path and a name of the file's own may hold line ends.
        return "\(place): \(found); expected \(expected)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
