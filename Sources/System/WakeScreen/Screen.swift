import CNcurses
import Glibc
import WakeSystem

/// The whole screen of the terminal that stdin and stdout are, drawn by ncurses, on a loop. The terminal is as it was before once
/// the screen is let go.
@safe package final class Screen {
    /// What a user presses.
    package enum Key: Hashable, Sendable {
        case character(Character)
        case up, down, left, right, pageUp, pageDown, home, end
        case tab, enter, escape
    }

    /// How a piece of a line looks.
    package enum Style: Hashable, Sendable {
        case plain, bold, dim, good, bad, waiting
    }

    /// A piece of a line, without characters that a terminal obeys.
    package struct Span: Hashable, Sendable {
        package var text: String
        package var style: Style

        package init(_ text: String, _ style: Style = .plain) {
            (self.text, self.style) = (text, style)
        }
    }

    /// One line of the screen.
    package struct Line: Hashable, Sendable {
        package var spans: [Span]
        /// Whether it is the chosen one of a list.
        package var isChosen: Bool

        package init(_ spans: [Span], isChosen: Bool = false) {
            (self.spans, self.isChosen) = (spans, isChosen)
        }
    }

    /// Told a key.
    package var pressed: (Key) -> Void = { _ in }
    /// Told that the terminal has another size.
    package var resized: () -> Void = {}
    /// Told that the terminal is gone.
    package var ended: () -> Void = {}

    private let screen: OpaquePointer
    private let isColoured: Bool
    private var watch: Watch?
    private var sizeChanged: SignalWatch?

    /// Takes the terminal.
    ///
    /// - Parameter colours: whether verdicts may have colours, where the terminal knows them.
    /// - Throws: ``SystemError``: ENOTTY where there is no terminal, or none that ncurses knows by `TERM`.
    package init(on loop: EventLoop, colours: Bool) throws(SystemError) {
        guard isatty(STDIN_FILENO) != 0, isatty(STDOUT_FILENO) != 0, let opened = unsafe wake_screen_open() else {
            throw SystemError("newterm", code: ENOTTY)
        }
        unsafe screen = opened
        isColoured = wake_screen_colours() && colours
        watch = try loop.watch(STDIN_FILENO, for: .readable) { [unowned self] in readKeys($0) }
        sizeChanged = try loop.signal(SIGWINCH) { [unowned self] in takeSize() }
    }

    deinit {
        watch?.cancel()
        unsafe wake_screen_close(screen)
    }

    /// In characters.
    package var size: (columns: Int, rows: Int) { (Int(wake_screen_columns()), Int(wake_screen_rows())) }

    // MARK: Drawing

    /// Shows these lines from the top on, and nothing else. What is too long or too much is cut.
    package func draw(_ lines: [Line]) {
        let (columns, rows) = size
        erase()
        for (row, line) in lines.prefix(rows).enumerated() { draw(line, row, columns) }
        refresh()
    }

    private func draw(_ line: Line, _ row: Int, _ columns: Int) {
        move(Int32(row), 0)
        let base = line.isChosen ? wake_screen_reversed : 0
        var left = columns
        for span in line.spans where left > 0 {
            let text = Self.cut(span.text, to: &left)
            attrset(Int32(bitPattern: base | attribute(of: span.style)))
            unsafe addnstr(text, Int32(text.utf8.count))
        }
        if line.isChosen, left > 0 {
            attrset(Int32(bitPattern: base))
            let blank = String(repeating: " ", count: left)
            unsafe addnstr(blank, Int32(blank.utf8.count))
        }
        attrset(0)
    }

    private func attribute(of style: Style) -> chtype {
        switch style {
        case .plain: 0
        case .bold: wake_screen_bold
        case .dim: wake_screen_dim
        case .good: isColoured ? wake_screen_paint(wake_screen_good) : 0
        case .bad: isColoured ? wake_screen_paint(wake_screen_bad) : wake_screen_bold
        case .waiting: isColoured ? wake_screen_paint(wake_screen_waiting) : 0
        }
    }

    /// As much of a text as has room, by the columns that the terminal gives each character.
    private static func cut(_ text: String, to left: inout Int) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            let width = max(0, Int(wcwidth(wchar_t(bitPattern: scalar.value))))
            guard width <= left else {
                left = 0
                break
            }
            left -= width
            shown.unicodeScalars.append(scalar)
        }
        return shown
    }

    private func takeSize() {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return
        }
        resizeterm(Int32(size.ws_row), Int32(size.ws_col))
        resized()
    }

    // MARK: Keys

    private func readKeys(_ readiness: Readiness) {
        var code: wint_t = 0
        while true {
            let kind = unsafe get_wch(&code)
            if kind == ERR { break }
            if let key = Self.key(code, isNamed: kind == KEY_CODE_YES) { pressed(key) }
        }
        if !readiness.isDisjoint(with: [.hangup, .failed]) {
            watch?.disable()
            ended()
        }
    }

    private static func key(_ code: wint_t, isNamed: Bool) -> Key? {
        if isNamed { return named[Int32(bitPattern: code)] }
        switch code {
        case 0x09: return .tab
        case 0x0a, 0x0d: return .enter
        case 0x1b: return .escape
        default:
            guard code >= 0x20, let scalar = Unicode.Scalar(code) else { return nil }
            return .character(Character(scalar))
        }
    }

    private static let named: [Int32: Key] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right, KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown,
        KEY_HOME: .home, KEY_END: .end, KEY_ENTER: .enter,
    ]
}
