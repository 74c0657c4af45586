import WakeBench
import WakeReports

/// The manual page wakebench(1), made of the one table of verbs.
enum ManualPage {
    static var text: String {
        var lines = [
            ".TH WAKEBENCH 1 \"\" \"wakebench \(wakebenchVersion)\" \"User Commands\"",
            ".SH NAME", "wakebench \\- the wake system of a phone, on Linux",
            ".SH SYNOPSIS", ".B wakebench", ".I VERB", ".RI [ OPTIONS ]",
            ".SH DESCRIPTION", escaped("Wakebench decides, as iOS does, when an app may run, and says why."),
            ".SH VERBS",
        ]
        for verb in WakebenchProgram.verbs {
            let name = (verb.words + [verb.usage]).filter { !$0.isEmpty }.joined(separator: " ")
            lines += [".SS \(quoted(name))", escaped(verb.help)]
            for option in verb.options {
                let names = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
                lines += [".TP", "\\fB\(escaped(names))\\fR" + (option.value.map { " \\fI\(escaped($0))\\fR" } ?? "")]
                lines.append(escaped(option.help))
            }
        }
        lines += [".SH \"EXIT STATUS\""]
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", escaped(code.meaning)] }
        lines += [
            ".SH ENVIRONMENT", ".TP", ".B WAKEBENCH_APPS",
            "folders in which app bundles are looked for, with colons between them",
            ".TP", ".B NO_COLOR", "set to anything, for output without colours",
        ]
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String { "\"" + escaped(text).replacing("\"", with: "\\(dq") + "\"" }

    /// A text that has no meaning to roff: hyphens that can be copied, no control characters at the beginning of a line.
    private static func escaped(_ text: String) -> String {
        let plain = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("\\", with: "\\e")
            .replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
