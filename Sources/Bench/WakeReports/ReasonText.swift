import WakeModel

/// Text with places, such as `<exit>; <window>`, that are filled for each decision.
struct Sentence: Sendable {
    /// What a place stands for.
    enum Place: String, CaseIterable, Sendable {
        /// The event's background mode.
        case mode
        /// The app's state before.
        case state
        /// When that state began.
        case before
        /// Since when what the decisive check saw is so.
        case since
        /// How and when the app ended, or that it has not run.
        case exit
        /// The time of the wake.
        case window
        /// What is left of it.
        case left
        /// What set what the decisive check saw.
        case setBy = "set by"
        /// What alone clears it.
        case clearedBy = "cleared by"
        case silenceLimit = "silence limit"
        case dwell
        /// In which wakes are counted.
        case span
    }

    /// The text before the first place, and after each.
    private var start: Substring
    private var rest: [(place: Place, text: Substring)] = []

    /// Reads a cell of reasons.tsv, in which these places may stand.
    ///
    /// - Throws: with the line, where a place is none of them.
    init(_ text: String, line: Int, places: [Place] = Place.allCases) throws(TableError) {
        let pieces = text.split(separator: "<", omittingEmptySubsequences: false)
        start = pieces[0]
        for piece in pieces.dropFirst() {
            let name = piece.prefix { $0 != ">" }
            guard name.endIndex < piece.endIndex, let place = Place(rawValue: String(name)), places.contains(place)
            else {
                throw TableError("reasons.tsv", line: line, "there is no place <\(name)>")
            }
            rest.append((place, piece[name.endIndex...].dropFirst()))
        }
    }

    /// The text before the first place, then each place by its name and the text after it.
    var pieces: [String] { [String(start)] + rest.flatMap { [$0.place.rawValue, String($0.text)] } }

    func text(_ fill: (Place) -> String) -> String {
        var text = String(start)
        for (place, next) in rest { text += fill(place) + next }
        return text
    }
}

/// What a reason means, and what to do about it: prose that is generated and never parsed.
enum ReasonText {
    /// What a reason means for events of a background mode.
    static func because(_ reason: Reason, of mode: BackgroundMode?) -> Sentence {
        let prose = all[Int(reason.rawValue)]
        return prose.variants.first { $0.mode == mode }?.because ?? prose.because
    }

    /// What would make the app wake; nil when nothing is wrong.
    static func advice(_ reason: Reason, of mode: BackgroundMode) -> String? {
        let prose = all[Int(reason.rawValue)]
        let advice = prose.variants.first { $0.mode == mode }?.advice ?? prose.advice
        return advice.map { $0.text { _ in mode.plistValue } }
    }

    private struct Prose: Sendable {
        var because: Sentence
        var advice: Sentence?
        var variants: [(mode: BackgroundMode, because: Sentence?, advice: Sentence?)]

        init(_ row: ReasonRow) throws(TableError) {
            because = try Sentence(row.because, line: row.line)
            advice = try Self.advice(row.advice, line: row.line)
            variants = []
            for variant in row.variants {
                var because: Sentence?
                if let text = variant.because { because = try Sentence(text, line: variant.line) }
                let advice = try Self.advice(variant.advice, line: variant.line)
                variants.append((variant.mode, because, advice))
            }
        }

        private static func advice(_ text: String?, line: Int) throws(TableError) -> Sentence? {
            guard let text else { return nil }
            return try Sentence(text, line: line, places: [.mode])
        }
    }

    /// In the order of ``Reason``.
    private static let all: [Prose] = {
        do throws(TableError) {
            var all: [Prose] = []
            for reason in Reason.allCases { all.append(try Prose(reason.row)) }
            return all
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}
