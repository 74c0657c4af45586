import WakeModel

/// What an app was registered for and is no more, what took it, and what to do about it.
extension Why {
    /// What one thing took from the app at one instant, and one remedy is for.
    struct Loss {
        /// In the order in which it went; there is one at least.
        var entries: [DeedEntry]
        /// The end of a process that it went with; nil for none.
        var exit: ExitEntry?
        /// Whether the user has uninstalled the app since.
        var isGone = false

        /// The first of what was taken.
        var first: DeedEntry { entries[0] }

        /// What is said of an event that came by it now.
        var reason: Reason { Remedy.of(first)?.reason ?? .noRegistration }

        /// The rule by which it went.
        var rule: RuleID { Why.rule(of: first) }

        /// What would have kept it, or brings it back; nil where nobody can say.
        var advice: String? {
            if isGone { return Why.advice(of: .lostToUninstall) }
            guard let remedy = Remedy.of(first) else { return nil }
            // What these reasons advise is the same for every background mode.
            return remedy.advice ?? remedy.reason.flatMap { ReasonText.advice($0, of: .processing) }
        }

        /// Why an event that came by it now reaches nobody.
        var cause: Cause {
            let because = "the app is registered for it no more: \(first.deed.row.sentence), at "
            return Cause(
                reason: reason,
                rule: rule,
                at: first.at,
                because: because + LogTime.shortText(first.at),
                advice: advice
            )
        }

        /// Whether something of it is what an event happened to, or its device; or, for none, has no name of its own.
        func isAbout(_ subject: String?) -> Bool {
            entries.contains { entry in
                guard let subject else { return entry.subject.isEmpty }
                return entry.subject == subject || !entry.subject.isEmpty && subject.hasPrefix(entry.subject + "/")
            }
        }

        /// Each thing, such as `its connection to belt with its subscription to belt/2A37`.
        var things: [String] {
            entries.compactMap { entry -> String? in
                let subscriptions = entries.filter { $0.isOver(entry) }.map(\.subject)
                if entries.contains(where: entry.isOver) { return nil }
                if subscriptions.isEmpty { return Why.thing(entry) }
                let noun = "subscription" + (subscriptions.count == 1 ? "" : "s")
                return "\(Why.thing(entry)) with its \(noun) to \(subscriptions.joined(separator: ", "))"
            }
        }

        var text: String {
            let when = exit.map { ", when it \($0.words) (x-\($0.number))" } ?? ""
            return things.joined(separator: ", ") + ", at \(LogTime.shortText(first.at))\(when): "
                + "\(first.deed.row.sentence)   " + Why.ruleText(rule)
        }
    }

    /// What the app has lost and not asked for again, as far as the logs have it, oldest first.
    var losses: [Loss] { losses(of: nil) }

    /// The same of registrations for the events of one source; of all for nil.
    func losses(of source: String?) -> [Loss] {
        var losses: [Loss] = []
        for entry in lostEntries() where source == nil || Self.source(of: entry) == source {
            // What the app gave up, or what went with the app itself, went with no process.
            let went = entry.deed != .unregistered && entry.deed != .lostToUninstall
            let exit = went ? log.exits.last { $0.app == app && $0.at == entry.at } : nil
            let loss = Loss(entries: [entry], exit: exit, isGone: uninstalled != nil)
            if let last = losses.last, last.first.deed == entry.deed, last.first.at == entry.at,
                last.rule == loss.rule && last.advice == loss.advice || last.entries.contains(where: entry.isOver)
            {
                losses[losses.count - 1].entries.append(entry)
            } else {
                losses.append(loss)
            }
        }
        return losses
    }

    /// A line for each loss, and what to do about it where that is not said already.
    ///
    /// - Parameter said: advice that stands above.
    func lost(_ losses: [Loss], beside said: [String] = []) -> [String] {
        var said = said + (absence?.advice.map { [$0] } ?? [])
        return losses.flatMap { loss in
            var lines = ["  lost     \(loss.text)"]
            if let advice = loss.advice, !said.contains(advice) {
                said.append(advice)
                lines.append("  try      \(advice)")
            }
            return lines
        }
    }

    /// The last loss of each thing that the app is not registered for at the end of the logs.
    private func lostEntries() -> [DeedEntry] {
        let kept = log.registrations[app]?.kept ?? []
        var entries: [DeedEntry] = []
        for entry in log.deeds where entry.app == app && entry.via != nil {
            entries.removeAll { Self.isSame($0, via: entry.via, subject: entry.subject) }
            entries.append(entry)
        }
        entries.removeAll { entry in kept.contains { Self.isSame(entry, via: $0.via, subject: $0.subject) } }
        let sources = Set(kept.compactMap { Registration(word: $0.via)?.source.word })
        return entries.enumerated().filter { place, entry in
            guard entry.deed == .unregistered else { return true }
            if entry.via == Registration.subscription.word {
                // Where the link is gone, too, that says it.
                return kept.contains { link in
                    link.via == Registration.connection.word && entry.subject.hasPrefix(link.subject + "/")
                }
            }
            // What an app gives up is told where nothing else of its source is left, or was lost later: a scan that ended once the
            // link was there is no loss.
            guard let source = Self.source(of: entry), !sources.contains(source) else { return false }
            return !entries[(place + 1)...].contains { later in
                Self.source(of: later) == source && later.via != Registration.subscription.word
            }
        }.map(\.element)
    }

    /// Whether an entry is about the same as a registration: a link that is up is what the request for it was for.
    private static func isSame(_ entry: DeedEntry, via: String?, subject: String) -> Bool {
        let links = [Registration.connection.word, Registration.pendingConnect.word]
        guard entry.subject == subject, let own = entry.via, let via else { return false }
        return own == via || links.contains(own) && links.contains(via)
    }

    private static func source(of entry: DeedEntry) -> String? {
        entry.via.flatMap { Registration(word: $0) }?.source.word
    }

    // MARK: What it was

    /// What went, such as `its connection to belt`.
    static func thing(_ entry: DeedEntry) -> String {
        let noun = entry.via.flatMap { nouns[$0] }
        return noun?.text(entry.subject) ?? "its \(entry.via ?? "") \(entry.subject)"
    }

    /// What is to be done about any loss of a kind; nil where nobody can say.
    static func advice(of deed: Deed) -> String? { Remedy.of(DeedEntry(deed: deed, at: .zero))?.advice }

    /// The rule by which something went.
    static func rule(of entry: DeedEntry) -> RuleID { Remedy.of(entry)?.reason?.rule ?? entry.deed.rule }

    /// How a registration is called.
    struct Noun {
        var plain: String
        /// With a star for its subject; nil where that says nothing.
        var named: String?

        func text(_ subject: String) -> String {
            guard let named, !subject.isEmpty else { return plain }
            return named.replacing("*", with: subject)
        }
    }

    /// By the words of registrations.
    static let nouns: [String: Noun] = read(
        "losses.tsv",
        EmbeddedFile.lossesTSV,
        ["via", "noun", "named"]
    ) { (row) throws(TableError) in
        (try row.filled("via"), Noun(plain: try row.filled("noun"), named: row["named"]))
    }

    /// What to do about a loss.
    private struct Remedy {
        var reason: Reason?
        var advice: String?

        /// The one for what was lost, else the one for any loss of the kind.
        static func of(_ entry: DeedEntry) -> Remedy? {
            all["\(entry.deed.word) \(entry.via ?? "")"] ?? all["\(entry.deed.word) "]
        }

        private static let all: [String: Remedy] = Why.read(
            "remedies.tsv",
            EmbeddedFile.remediesTSV,
            ["deed", "via", "reason", "advice"]
        ) { (row) throws(TableError) in
            let deed = try row.value("deed") { Deed(word: $0) }
            var remedy = Remedy(advice: row["advice"])
            if row["reason"] != nil { remedy.reason = try row.value("reason") { Reason(word: $0) } }
            return ("\(deed.word) \(row["via"] ?? "")", remedy)
        }
    }

    /// A table by the keys of its rows; one that cannot be read, or a key that is there twice, is our mistake and traps.
    private static func read<Value>(
        _ name: String,
        _ bytes: [UInt8],
        _ columns: [String],
        _ entry: (Table.Row) throws(TableError) -> (key: String, value: Value)
    ) -> [String: Value] {
        do throws(TableError) {
            var entries: [String: Value] = [:]
            for row in try Table(name, bytes, columns: columns).rows {
                let (key, value) = try entry(row)
                guard entries.updateValue(value, forKey: key) == nil else {
                    throw row.refusal("\(key) is there already")
                }
            }
            return entries
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension DeedEntry {
    /// What went, when and by which rule: `lost its connection to belt, at T+00:02:00: gone with the force quit, LAUNCH-2`.
    package var lossText: String {
        "lost \(Why.thing(self)), at \(LogTime.shortText(at)): \(deed.row.sentence), \(Why.rule(of: self).text)"
    }

    fileprivate var isConnection: Bool { via == Registration.connection.word }

    /// Whether it is a subscription over a connection.
    fileprivate func isOver(_ connection: DeedEntry) -> Bool {
        via == Registration.subscription.word && connection.isConnection && subject.hasPrefix(connection.subject + "/")
    }
}
