import Foundation
import WakeReports

/// The terminal that stdout is, when it is one.
enum Terminal {
    /// The characters of a line; nil when stdout is no terminal.
    static var width: Int? {
        guard isOutput else { return nil }
        var size = winsize()
        let answer = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
        return answer == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Prints lines, each folded where the terminal is narrower; what is left begins in the column `hanging`.
    static func print(_ text: String, hanging: Int) {
        Swift.print(TextTable.prose(text, width: width, hanging: hanging))
    }

    static var isOutput: Bool { isatty(STDOUT_FILENO) != 0 }

    /// Whether words may have colours: on a terminal that knows them, unless NO_COLOR asks for none (no-color.org).
    static var isColoured: Bool {
        let variables = ProcessInfo.processInfo.environment
        return isOutput && variables["NO_COLOR", default: ""].isEmpty && variables["TERM"] != "dumb"
    }
}

/// What a run shows while it goes on: lines of what happens on stdout, and how far it is on stderr.
final class Console {
    let showsProgress: Bool
    private let width = Terminal.width
    private let isColoured = Terminal.isColoured
    /// The progress line that stands on the terminal now; empty for none.
    private var standing = ""

    init(showsProgress: Bool) {
        self.showsProgress = showsProgress
    }

    /// Prints a line of what happens, at once, above the progress.
    func show(_ row: Timeline.Row) {
        let progress = standing
        clear()
        print(Timeline.line(row, width: width, isColoured: isColoured))
        fflush(nil)
        if !progress.isEmpty { draw(progress) }
    }

    /// Puts a text in the place of the progress line.
    func progress(_ text: String) {
        clear()
        draw(text)
    }

    /// Takes the progress line away.
    func clear() {
        guard !standing.isEmpty else { return }
        StandardStreams.complain("\r" + String(repeating: " ", count: standing.count) + "\r")
        standing = ""
    }

    private func draw(_ text: String) {
        StandardStreams.complain(text)
        standing = text
    }
}
