import WakeALSA
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeUdev
import WakeWire

/// Sound on the cards of this machine, through ALSA.
///
/// A card's own thread adds up what the apps have rendered and asks them for more, in the card's time; here only the edges
/// arrive. Cards come and go through udev. While no card can play, or hear, the time goes on without sound.
package final class ALSAAudio: StreamedAudio {
    package static let usualCard = "default"

    /// How often a card ran out of frames, or of room for them, because this machine was late.
    package private(set) var overruns = 0
    /// What the card that plays has granted; nil before the start.
    package var granted: SoundGrant? { player?.pump.playback }

    /// An open card.
    private struct Card {
        var name: String
        var pump: SoundPump
    }

    /// The phone's own rate, in the usual buffers; four of them wait in the card, for the sake of other programs.
    static let request = SoundRequest(
        rates: [Int(AudioFormat.rate)],
        channels: AudioFormat.outputChannels,
        periodFrames: Int(AudioFormat.usualFrames),
        periods: 4
    )

    /// What plays nothing and hears nothing, when there is no card: a plug-in of alsa-lib.
    private static let nothing = "null"

    private let speaker: String
    private let microphone: String
    private let devices: [(name: String, device: AudioDevice)]
    private let mix: AppMix
    private var routes: CardRoutes
    private var udev: Udev?
    private var cardWatch: SoundCardWatch?
    private var newsWatch: Watch?
    private var player: Card?
    private var recorder: Card?
    /// What the cards' threads said and no time has come to yet.
    private var news: [AppMix.News] = []

    /// - Parameters:
    ///   - card: the PCM that stands for the phone's speaker.
    ///   - microphone: the PCM that stands for its microphone; nil for the same.
    /// - Throws: ``SystemError`` when the kernel gives no descriptors.
    package init(
        card: String = ALSAAudio.usualCard,
        microphone: String? = nil,
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop
    ) throws(SystemError) {
        speaker = card
        self.microphone = microphone ?? card
        self.devices = devices.compactMap { device in device.audio.map { (device.name, $0) } }
        mix = try AppMix()
        routes = CardRoutes(speaker: card, microphone: microphone ?? card, devices: self.devices, cards: [])
        super.init("alsa", names: names, loop: loop)
    }

    // MARK: The port

    package override func start(at now: Instant) throws(SourceFailure) {
        do throws(SystemError) {
            let udev = try Udev()
            // The watch first: what comes between the two is then heard of.
            cardWatch = try SoundCardWatch(udev, on: loop) { [weak self] in self?.changed($0) }
            newsWatch = try loop.watch(mix.newsDescriptor, for: .readable) { [weak self] _ in
                guard let self else { return }
                news += mix.takeNews()
            }
            self.udev = udev
        } catch {
            throw SourceFailure(.environment, "audio=alsa: \(error)")
        }
        let cards = SoundCard.all(udev)
        routes = CardRoutes(speaker: speaker, microphone: microphone, devices: devices, cards: cards)
        do throws(SoundError) {
            player = try open(.playback, routes.outputName ?? speaker)
        } catch {
            throw SourceFailure(.environment, "audio=alsa: \(error)")
        }
    }

    package override func stop() {
        super.stop()
        cardWatch = nil
        newsWatch?.cancel()
        newsWatch = nil
        player?.pump.stop()
        recorder?.pump.stop()
        player = nil
        recorder = nil
    }

    package override var route: AudioRoute { routes.route }

    override func ordered(_ stream: AppStream, begins: Bool) {
        mix.change(stream.app, stream.order) { voice in
            voice.order = stream.order
            if begins { voice.begin() }
        }
    }

    override func ended(_ app: AppID) { mix.remove(app) }

    override func unlink(_ stream: AppStream) {
        mix.change(stream.app, stream.order) { $0.link = nil }
        super.unlink(stream)
    }

    override func linked(_ stream: AppStream, _ link: AudioLink) {
        mix.change(stream.app, stream.order) { voice in
            voice.link = link
            voice.begin()
        }
    }

    override func pretends(_ stream: AppStream, tone: Bool) {
        mix.change(stream.app, stream.order) { $0.hums = tone }
    }

    /// A card is plugged in by hand: the step says when that is to be, and udev when it is.
    package override func plug(_ device: String, _ plugged: Bool, at now: Instant) throws(SourceFailure) {
        guard let found = devices.first(where: { $0.name == device })?.device else {
            throw SourceFailure(.unknown, "no sound device is called '\(device)'")
        }
        guard found.card != nil else {
            throw SourceFailure(
                .unsupported,
                "audio=alsa: name the sound card that '\(device)' is, as `card` in \(found.file)"
            )
        }
    }

    package override func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
        throw SourceFailure(
            .unsupported,
            "audio=alsa: the sound card itself decides; arm '\(fault)' with audio=simulated"
        )
    }

    // MARK: Cards

    /// Opens a card for one direction.
    private func open(_ direction: SoundDirection, _ name: String) throws(SoundError) -> Card {
        let end = SoundPump.End(name, Self.request)
        do {
            let pump = try SoundPump(
                playing: direction == .playback ? end : nil,
                recording: direction == .capture ? end : nil,
                frames: mix,
                loop: loop
            ) { [weak self] in self?.heard($0, of: name) }
            return Card(name: name, pump: pump)
        } catch let error as SoundError {
            throw error
        } catch {
            throw SoundError(.failed, device: name, call: "\(error)", code: 0)
        }
    }

    /// What a card's thread says.
    private func heard(_ edge: SoundEdge, of name: String) {
        switch edge {
        case .started, .runsAgain, .rested: break
        case .ranDry: overruns += 1
        case .gone: lose(name)
        }
    }

    private func changed(_ change: SoundCardWatch.Change) {
        var newcomer: Int32?
        switch change {
        case .came(let index):
            newcomer = index
            regain()
        case .went(let index):
            for card in [player, recorder] {
                if let card, card.pump.cards.contains(index) { lose(card.name) }
            }
        }
        tell(routes.see(SoundCard.all(udev), newcomer: newcomer))
        settle()
    }

    private func lose(_ name: String) {
        tell(routes.lose(name))
        settle()
    }

    /// What was lost may be there again.
    private func regain() {
        for name in routes.lostNames {
            let direction: SoundDirection = name == speaker ? .playback : .capture
            if (try? open(direction, name)) != nil { tell(routes.regain(name)) }
        }
    }

    private func tell(_ changes: [CardRoutes.Change]) {
        for change in changes {
            tellRoute(change.route, before: change.previous, change.device, change.reason)
        }
    }

    override func settle(at now: Instant) { settle() }

    /// Opens the cards that the route names, and lets move what is wanted.
    private func settle() {
        let plays = streams.contains { $0.order.runs && $0.order.plays }
        let records = streams.contains { $0.order.runs && $0.order.records }
        player = settled(player, .playback) { $0.outputName }
        if records || recorder != nil { recorder = settled(recorder, .capture) { $0.inputName } }
        player?.pump.run(plays ? [.playback] : [])
        recorder?.pump.run(records ? [.capture] : [])
    }

    /// The card that the route names: the one that is open, or another.
    private func settled(_ card: Card?, _ direction: SoundDirection, _ name: (CardRoutes) -> String?) -> Card? {
        while true {
            let wanted = name(routes) ?? Self.nothing
            if let card, card.name == wanted { return card }
            card?.pump.stop(drains: false)
            do throws(SoundError) { return try open(direction, wanted) } catch {
                guard wanted != Self.nothing else { return nil }
                for stream in streams where stream.order.runs { note?(stream.app, "\(error)") }
                tell(routes.lose(wanted))
            }
        }
    }

    // MARK: Time

    package override var nextDeadline: Instant? { news.isEmpty ? super.nextDeadline : .zero }

    package override func timeReached(_ now: Instant) {
        let heard = news
        news = []
        for each in heard { take(each, at: now) }
        super.timeReached(now)
    }

    private func take(_ news: AppMix.News, at now: Instant) {
        guard let stream = stream(news.app) else { return }
        if news.late > 0 { stream.watch.ranDry(news.late) }
        if let isSilent = news.isSilent { stream.watch.buffer(silent: isSilent, at: now) }
        guard let fault = news.fault else { return }
        drop(stream, fault)
        settle()
    }
}
