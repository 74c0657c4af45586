import WakeModel
import WakeReports
import WakeWire

/// The lines that come of no decision: notes about apps, steps and what came to nothing, and what apps had beyond their bounds.
extension RunRecorder {
    func note(_ text: String, of app: AppID) {
        let bundle = bundle(Int(app.number))
        logs.keep(Note(text: text, app: bundle, at: now))
        followed.add(Timeline.Row(at: now, app: bundle, what: text))
        hasNews = true
    }

    /// Writes down a line for people, at the instant of the run's clock that it is about.
    func note(_ text: String, at instant: Instant) {
        logs.keep(Note(text: text, at: instant))
        followed.add(Timeline.Row(at: instant, app: nil, what: text))
        hasNews = true
    }

    /// Writes down the note of a step, unless the file has it from before the bench died.
    func note(step text: String, at instant: Instant) {
        let isHeld = outcomes.claim(.note(text, app: nil))
        write(Note(text: text, at: instant), isHeld: isHeld)
    }

    /// Writes down that something reached nobody, or came to nothing, and why, unless the file has it from before the bench died:
    /// what was done since the last input is done again then.
    ///
    /// - Parameters:
    ///   - what: came to nothing, such as a step; or the whole line.
    ///   - why: may be another when it is done again, as processes end with the bench.
    ///   - app: the one that it is about; nil for the whole run.
    ///   - instant: of the run's clock, when it was found.
    ///   - isReplayed: whether it is found again while a journal is read back; what is not, and seems so then, is nothing.
    func miss(
        _ what: String,
        _ why: String? = nil,
        of app: AppID? = nil,
        at instant: Instant,
        isReplayed: Bool = true
    ) {
        if isReplaying, !isReplayed { return }
        let text = why.map { "\(what): \($0)" } ?? what
        let note = Note(text: text, app: app.map { bundle(Int($0.number)) }, at: instant)
        var isHeld = isReplayed && outcomes.claim(.note(text, app: note.app))
        if !isHeld, !isReplaying { isHeld = outcomes.claim(note, about: why == nil ? nil : what) }
        write(note, isHeld: isHeld, isMiss: true)
    }

    private func write(_ note: Note, isHeld: Bool, isMiss: Bool = false) {
        if !isHeld { logs.keep(note) }
        followed.add(Timeline.Row(at: note.at, app: note.app, what: note.text, note: isMiss ? note.text : nil))
        hasNews = true
    }

    // MARK: What is bounded

    /// Writes down what an app marked, as far as the bound allows. It waits for the next commit, as it is for later.
    func note(_ signpost: WireSignpost, of app: AppID, at instant: Instant) {
        let number = Int(app.number)
        guard bounds[number].signposts.admits() else {
            let bound = bounds[number].signposts
            if bound.lost == 1 { note("has made \(bound.kept.count) signposts; later ones are not kept", of: app) }
            return
        }
        let entry = SignpostEntry(signpost, app: bundle(number), pid: pid(of: number), at: instant)
        logs.keep { () throws(ReportError) in
            bounds[number].signposts.keeps(bytes: try outcomes.appendMeasured(entry))
        }
    }

    /// Says that an app has made all the lines of a kind that the run keeps.
    func tellBound(_ bound: LineBound, _ what: String, of app: AppID) {
        noteOnce("has \(bound.kept) \(what); later ones are not kept", of: app)
    }

    /// Says at the end how much of what apps did is not in the logs.
    func noteLost() {
        for number in bounds.indices {
            for (count, what) in bounds[number].lost where count > 0 {
                noteOnce("\(count) \(what) were not kept", of: AppID(UInt32(number)))
            }
        }
    }

    /// Writes down a line about an app, unless the file has it from before the bench died.
    func noteOnce(_ text: String, of app: AppID) {
        if !outcomes.claim(.note(text, app: bundle(Int(app.number)))) { note(text, of: app) }
    }

    // MARK: Facts of the run

    /// Writes down what went over the network for an app, unless the file has it from before the bench died.
    func note(sent: UInt64, received: UInt64, by number: UInt32, of app: AppID, at instant: Instant) {
        guard !outcomes.claim(.traffic(number)) else { return }
        let bundle = bundle(Int(app.number))
        let entry = TrafficEntry(app: bundle, at: instant, number: number, sent: sent, received: received)
        logs.keep(entry)
    }

    /// Writes down that devices left the phone's reach, or came back, unless the file has it from before the bench died.
    func range(_ devices: [String], inRange: Bool, at instant: Instant) {
        hasNews = true
        for device in devices where !outcomes.claim(.range(device, inRange: inRange)) {
            let entry = RangeEntry(device: device, at: instant, inRange: inRange)
            logs.keep(entry)
        }
    }
}

extension SignpostEntry {
    fileprivate init(_ signpost: WireSignpost, app: String, pid: Int32, at instant: Instant) {
        let mark: Mark =
            switch signpost.mark {
            case .event: .event
            case .begin: .begin
            case .end: .end
            }
        self.init(
            app: app,
            at: instant,
            pid: pid,
            mark: mark,
            name: signpost.name,
            span: signpost.span,
            subsystem: signpost.subsystem,
            category: signpost.category,
            message: signpost.message
        )
    }
}
