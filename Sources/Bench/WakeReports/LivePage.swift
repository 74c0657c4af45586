import WakeModel

/// The page of a phone that runs: that of ``HTMLReport``, which begins with the run so far and goes on with what happens, and
/// has the verbs. What it shows comes from where the page does, and from nowhere else.
package enum LivePage {
    /// - Parameter nonce: what its style and its script have in common with the policy that is sent with it.
    package static func bytes(nonce: String) -> [UInt8] {
        var page = HTMLReport.Template()
        let mark = " nonce=\"\(nonce)\">"
        // Browsers would ask for an icon otherwise.
        let icon = "<link rel=\"icon\" href=\"data:,\">\n"
        page.copy(to: "title")
        page.line.append(raw: "Wakebench")
        page.copy(to: "style", replacing: "<style>", by: icon + "<style" + mark)
        page.line.append(EmbeddedFile.pageCSS)
        page.line.append(EmbeddedFile.liveCSS)
        page.copy(to: "heading")
        page.line.append(raw: "Wakebench")
        page.copy(to: "controls")
        page.line.append(EmbeddedFile.liveHTML)
        page.copy(to: "data")
        HTMLReport.append("rules", rules, to: &page.line)
        HTMLReport.append("words", words, to: &page.line)
        page.copy(to: "script", replacing: "<script>", by: "<script" + mark)
        for script in HTMLReport.scripts { page.line.append(script) }
        page.line.append(EmbeddedFile.liveRunJS)
        page.line.append(EmbeddedFile.liveJS)
        return page.finish()
    }

    private static let rules = HTMLReport.rules().escapedForScript

    /// What a report says of its own run alone, of anything that may happen: what the kinds of event are about, what the reasons
    /// mean, and what acts say of the phone.
    private static let words: [UInt8] = {
        var line = LineBuffer()
        line.append("{")
        line.key("kinds")
        line.append("{")
        for kind in EventKind.allCases {
            line.key(kind.word)
            line.append(list: [kind.mode.plistValue, PageTracks.devices[kind.word] ?? ""])
        }
        line.append("}")
        line.key("because")
        line.append("{")
        for mode in BackgroundMode.allCases {
            line.key(mode.plistValue)
            line.append("{")
            for reason in Reason.allCases {
                line.key(reason.word)
                line.append(list: ReasonText.because(reason, of: mode).pieces)
            }
            line.append("}")
        }
        line.append("}")
        line.key("phone")
        line.append("{")
        for (word, band) in PageTracks.phone.sorted(by: { $0.key < $1.key }) {
            line.key(word)
            line.append(list: [band.row, band.state])
        }
        line.append("}")
        line.key("acts")
        line.append(list: Act.words.values.sorted())
        line.append("}")
        return line.bytes.escapedForScript
    }()
}
