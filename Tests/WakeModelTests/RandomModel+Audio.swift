import WakeModel

extension SeededGenerator {
    mutating func audioRequest() -> AudioRequest {
        switch below(7) {
        case 0: .setCategory(any(), AudioOptions(rawValue: number()))
        case 1: .activate(request: number())
        case 2: .deactivate(notifiesOthers: flag())
        case 3: .start(request: number(), plays: flag(), records: flag())
        case 4: .stop
        case 5: .preferBuffer(span())
        default: .requestPermission
        }
    }

    mutating func audioRoute() -> AudioRoute {
        AudioRoute(output: optional { $0.audioEnd() }, input: optional { $0.audioEnd() })
    }

    private mutating func audioEnd() -> AudioRoute.End { AudioRoute.End(any(), name: text()) }
}
