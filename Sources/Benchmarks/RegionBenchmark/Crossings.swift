import WakeModel
import WakeRouter

/// Crossings in the order in which they counted, those of one second in order of region.
struct Crossings: Equatable {
    private(set) var count = 0
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private var ofSecond: [(key: AppSlot, entered: Bool)] = []

    mutating func add(_ key: AppSlot, entered: Bool) {
        ofSecond.append((key, entered))
    }

    mutating func endSecond(_ second: Int) {
        guard !ofSecond.isEmpty else { return }
        if ofSecond.count > 1 { ofSecond.sort { $0.key < $1.key } }
        for (key, entered) in ofSecond {
            count += 1
            hash = (hash ^ UInt64(second) << 1 ^ (entered ? 1 : 0)) &* 0x9e37_79b9_7f4a_7c15
            hash = (hash ^ UInt64(key.app.number) << 16 ^ UInt64(key.slot)) &* 0xbf58_476d_1ce4_e5b9
            hash ^= hash >> 29
        }
        ofSecond.removeAll(keepingCapacity: true)
    }

    static func == (left: Crossings, right: Crossings) -> Bool {
        left.count == right.count && left.hash == right.hash
    }
}

/// What counts as a crossing (REG-2), by a look at every region at every fix, one fix a second.
struct LinearWatch {
    private struct Watched {
        var center: Direction
        var innerSquare: Double
        var radiusSquare: Double
        var outerSquare: Double
        var key: AppSlot
        var isInside = false
        /// The second in which a crossing counts; -1 for none.
        var due = -1
    }

    private static let dwell = 20
    private var regions: [Watched]
    private var isFirst = true
    private(set) var crossings = Crossings()

    init(_ regions: [CircularRegion]) {
        self.regions = regions.enumerated().map { number, region in
            Watched(
                center: region.center,
                innerSquare: region.inwardChord * region.inwardChord,
                radiusSquare: region.radiusChord * region.radiusChord,
                outerSquare: region.outwardChord * region.outwardChord,
                key: RegionCountry.key(number)
            )
        }
    }

    mutating func move(to position: Direction, second: Int) {
        if isFirst {
            isFirst = false
            for index in regions.indices {
                let square = position.chordSquared(to: regions[index].center)
                regions[index].isInside = square <= regions[index].radiusSquare
            }
            return
        }
        for index in regions.indices {
            if regions[index].due >= 0, regions[index].due <= second {
                regions[index].due = -1
                regions[index].isInside.toggle()
                crossings.add(regions[index].key, entered: regions[index].isInside)
            }
            let square = position.chordSquared(to: regions[index].center)
            let isPast =
                regions[index].isInside ? square > regions[index].outerSquare : square <= regions[index].innerSquare
            if !isPast {
                regions[index].due = -1
            } else if regions[index].due < 0 {
                regions[index].due = second + Self.dwell
            }
        }
        crossings.endSecond(second)
    }
}

/// The same by the router: apps monitor the regions, crossings resume or relaunch them, and a host answers at once.
struct RouterWatch {
    private var router = Router(profile: .ios17)
    private var output = RouterOutput()
    private var now = Instant.zero
    private var lastEvent: UInt64 = 0
    /// What the host, the apps and the router itself say next, first in, first out.
    private var answers: [Input] = []
    private(set) var crossings = Crossings()
    private(set) var decisions = 0

    init(_ regions: [CircularRegion]) {
        let apps = (regions.count + RegionCountry.regionsPerApp - 1) / RegionCountry.regionsPerApp
        for number in 0..<apps {
            let app = AppID(UInt32(number))
            hear(.install(app, AppManifest(bundle: NameID(1_000 + app.number), modes: BackgroundModes([.location]))))
            hear(.user(app, .launch))
            hear(.request(app, .location(1, .requestAuthorization(always: true))))
            let first = number * RegionCountry.regionsPerApp
            for region in regions[first..<min(first + RegionCountry.regionsPerApp, regions.count)] {
                hear(.request(app, .location(1, .monitor(region))))
            }
        }
        hear(.user(AppID(UInt32(apps - 1)), .home))
        // The last window ends before the drive begins.
        advance(to: now.advanced(by: .seconds(60)))
    }

    mutating func move(to position: Direction, second: Int) {
        advance(to: RouterWatch.beginning.advanced(by: .seconds(Int64(second))))
        hear(.event(WakeEvent(kind: .positionFixed, fix: Fix(direction: position))))
        crossings.endSecond(second)
    }

    /// Later than the preparations end.
    private static let beginning = Instant.zero.advanced(by: .seconds(100))

    private mutating func advance(to instant: Instant) {
        while let next = router.nextDeadline, next <= instant {
            now = max(now, next)
            hear(.timeReached)
        }
        now = instant
    }

    /// Hears one input and all that is answered to it.
    private mutating func hear(_ input: Input) {
        turn(input)
        var first = 0
        while first < answers.count {
            let answer = answers[first]
            first += 1
            turn(answer)
        }
        answers.removeAll(keepingCapacity: true)
    }

    private mutating func turn(_ input: Input) {
        output.removeAll()
        if case .event(var event) = input {
            lastEvent += 1
            event.id = EventID(lastEvent)
            router.handle(.event(event), id: event.id, at: now, into: &output)
        } else {
            router.handle(input, id: .none, at: now, into: &output)
        }
        decisions += output.decisions.count
        for index in output.actions.indices {
            switch output.actions[index] {
            case .launch(let app, _, _, _, _, _):
                answers.append(.request(app, .location(1, .create)))
                answers.append(.process(app, .launched))
            case .freeze(let app): answers.append(.process(app, .suspended))
            case .callback(let app, let callback, _): answers.append(.process(app, .returned(callback)))
            case .raise(let event, _):
                answers.append(.event(event))
                note(event)
            default: break
            }
        }
    }

    /// Regions are named after their slots.
    private mutating func note(_ event: WakeEvent) {
        guard event.kind == .regionEntered || event.kind == .regionExited, let app = event.app else { return }
        let key = AppSlot(app: app, slot: UInt16(event.region.number - RegionCountry.firstName))
        crossings.add(key, entered: event.kind == .regionEntered)
    }
}
