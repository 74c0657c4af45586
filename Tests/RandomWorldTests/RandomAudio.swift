import WakeModel

/// Apps that play and record, and what happens to their sound.
extension RandomWorld {
    /// A launched app does what most do: it sets a category and plays.
    mutating func play(_ index: Int) {
        let app = AppID(UInt32(index))
        hear(.request(app, .audio(.setCategory(chance.pick(AudioCategory.allCases), anyOptions()))))
        lastRequest += 1
        hear(.request(app, .audio(.start(request: lastRequest, plays: true, records: chance.once(in: 4)))))
    }

    private mutating func anyOptions() -> AudioOptions {
        chance.pick([[], [], [.mixWithOthers], [.duckOthers], [.interruptSpokenAudio, .mixWithOthers]])
    }

    mutating func anySoundRequest() -> AudioRequest {
        lastRequest += 1
        switch chance.below(16) {
        case 0..<4: return .setCategory(chance.pick(AudioCategory.allCases), anyOptions())
        case 4..<6: return .activate(request: lastRequest)
        case 6, 7: return .deactivate(notifiesOthers: !chance.once(in: 4))
        case 8..<12: return .start(request: lastRequest, plays: !chance.once(in: 3), records: chance.once(in: 2))
        case 12: return .stop
        case 13: return .preferBuffer(.milliseconds(Int64(chance.below(200))))
        default: return .requestPermission
        }
    }

    /// What a source, the user or nobody says of somebody's sound.
    mutating func sound() {
        let kinds = EventKind.allCases.filter { $0.source == .audio }
        let kind = chance.pick(kinds)
        let anyone = AppID(UInt32(chance.below(Self.appCount)))
        let app = chance.once(in: 2) ? self.app(in: .inactive) ?? anyone : anyone
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    local: UInt32(chance.below(4)),
                    failed: chance.once(in: 4),
                    app: kind == .audioRouteChanged && chance.once(in: 2) ? nil : app
                )
            ),
            isEvent: true
        )
    }
}
