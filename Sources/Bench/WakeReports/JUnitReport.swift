import WakeModel

/// Expectations and their results as a JUnit file, which build servers read.
package enum JUnitReport {
    /// One expectation of a scenario.
    package struct Case: Hashable, Sendable {
        /// What was expected, in words.
        package var name: String
        /// Where, such as `night.yaml:31`.
        package var place: String
        /// Nil when it was met; otherwise one line that says what was seen instead.
        package var failure: String?
        /// More about a failure, such as the explanation that `why` gives.
        package var details: String

        package init(name: String, place: String, failure: String? = nil, details: String = "") {
            self.name = name
            self.place = place
            self.failure = failure
            self.details = details
        }
    }

    /// - Parameter lasted: the virtual time of the run.
    package static func text(suite: String, lasted: Instant.Span, _ cases: [Case]) -> String {
        let failures = cases.count { $0.failure != nil }
        let seconds = "\(lasted.milliseconds / 1000).\(String(1000 + max(0, lasted.milliseconds % 1000)).dropFirst())"
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(cases.count)" failures="\(failures)">
            <testsuite name="\(Markup.escaped(suite))" tests="\(cases.count)" failures="\(failures)" \
            errors="0" skipped="0" time="\(seconds)">

            """
        for each in cases {
            text += "<testcase classname=\"\(Markup.escaped(each.place))\" name=\"\(Markup.escaped(each.name))\""
            guard let failure = each.failure else {
                text += "/>\n"
                continue
            }
            text +=
                "><failure message=\"\(Markup.escaped(failure))\">\(Markup.escaped(each.details))</failure></testcase>\n"
        }
        return text + "</testsuite>\n</testsuites>\n"
    }
}

/// Text inside XML and HTML.
enum Markup {
    /// Escapes what has a meaning there, and replaces what may not stand in XML at all.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t", "\r": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
