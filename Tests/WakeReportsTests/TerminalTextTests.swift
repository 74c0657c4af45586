import Testing
import WakeReports

@Suite("Foreign text on terminals")
struct TerminalTextTests {
    @Test(
        "What a terminal would obey is shown",
        arguments: [
            ("plain", "plain"),
            ("Gürtel 🫀 👨‍👩‍👧 C:\\new", "Gürtel 🫀 👨‍👩‍👧 C:\\new"),
            ("home\nmet      com.acme.app", "home\\nmet      com.acme.app"),
            ("home\r\nmet", "home\\r\\nmet"),
            ("\u{1B}]0;owned\u{7}", "\\u{1B}]0;owned\\u{7}"),
            ("\u{1B}[2J\u{1B}[31mred", "\\u{1B}[2J\\u{1B}[31mred"),
            ("\u{9B}31m\u{7F}\0", "\\u{9B}31m\\u{7F}\\u{0}"),
            ("a\tb\u{8}c", "a\\tb\\u{8}c"),
            ("abc\u{202E}fed\u{2066}x", "abc\\u{202E}fed\\u{2066}x"),
            ("a\u{2028}b\u{2029}c\u{85}d", "a\\u{2028}b\\u{2029}c\\u{85}d"),
            ("no\u{200B}width\u{FEFF}", "no\\u{200B}width\\u{FEFF}"),
        ]
    )
    func escaped(text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
        // Shown text is shown as it is.
        #expect(TerminalText.escaped(shown) == shown)
    }
}
