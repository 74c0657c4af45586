import WakeModel

/// What the random world's apps ask for their calls, and what comes over their sockets.
extension RandomWorld {
    private static let sockets = 3

    private mutating func anySocket() -> SocketNumber { SocketNumber(chance.below(Self.sockets + 1)) }

    /// An app does what most do: it marks its socket.
    mutating func call(_ index: Int) {
        let app = AppID(UInt32(index))
        hear(.request(app, .voip(.watch(1, peer: NameID(700)))))
        if chance.once(in: 2) { hear(.request(app, .voip(.setKeepAlive(period: .seconds(600))))) }
    }

    mutating func anyVoIPRequest() -> AppRequest {
        switch chance.below(8) {
        case 0..<4: .voip(.watch(anySocket(), peer: NameID(700)))
        case 4: .voip(.unwatch(anySocket()))
        case 5: .voip(.clearKeepAlive)
        default:
            .voip(.setKeepAlive(period: chance.once(in: 6) ? .seconds(Int64(chance.below(600))) : .seconds(600)))
        }
    }

    /// Something comes over sockets, of apps that have them and of others; now and then again and again.
    mutating func calls() {
        guard chance.once(in: 8) else { return anyCall(AppID(UInt32(chance.below(Self.appCount)))) }
        let app = AppID(UInt32(chance.below(Self.appCount)))
        for _ in 0..<20 {
            anyCall(app)
            answer(app)
        }
    }

    /// Something comes over a socket of the app, or to it for its calls.
    mutating func anyCall(_ app: AppID) {
        let kinds = EventKind.allCases.filter { $0.source == .voip }
        let kind = chance.once(in: 3) ? chance.pick(kinds) : .voipData
        hear(
            .event(WakeEvent(kind: kind, local: anySocket(), failed: chance.once(in: 2), app: app)),
            isEvent: true
        )
    }

    /// The app is suspended as soon as it may be, and its host answers.
    private mutating func answer(_ app: AppID) {
        hear(.request(app, .done))
        hear(.process(app, .suspended))
    }
}
