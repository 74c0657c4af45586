/// A packet from an app to the bench.
package enum AppMessage: Equatable, Sendable {
    /// The first packet: which wire the app speaks, in what language, and whether it takes packets of several messages.
    case hello(version: Int, client: String, pid: Int, batches: Bool = false)
    /// `didFinishLaunching` has returned and the main queue has drained once.
    case launched
    /// The callback or delivery with that number is handled: it returned and its queue drained once.
    ///
    /// With `through`, never below `delivery`, so are all those up to that number.
    case acknowledge(delivery: UInt64, through: UInt64? = nil)
    /// The app's own word that the work of this wake is done (LIFE-11).
    case done
    /// A finite-length task begins; the app mints the token.
    ///
    /// With an id it begins only if it is granted, and a reply with `granted` says whether (TASK-7).
    case beginTask(token: UInt64, name: String?, id: UInt64? = nil)
    /// A finite-length task ends.
    case endTask(token: UInt64)
    /// How long the app may still run in the background; answered by a reply with `seconds`.
    case timeRemaining(id: UInt64)
    /// A mark for the run's trace; never answered.
    case signpost(WireSignpost)
    /// A request to a central manager.
    case central(manager: UInt32, CentralRequest)
    /// A request to a peripheral of a central manager.
    case peripheral(manager: UInt32, peripheral: String, PeripheralRequest)
    /// A request to a peripheral manager.
    case peripheralManager(manager: UInt32, WirePeripheralManagerRequest)
    /// A request to a location manager.
    case location(manager: UInt32, WireLocationRequest)
    /// A request of the audio session or engine.
    case audio(manager: UInt32, WireAudioRequest)
    /// A request to the accessory manager.
    case accessory(manager: UInt32, WireAccessoryRequest)
    /// A request for calls.
    case voip(WireVoIPRequest)
}

extension AppMessage {
    /// Reads a packet.
    ///
    /// - Throws: ``WireError`` for anything that is not a message of an app.
    package init(decoding packet: [UInt8]) throws(WireError) {
        if let acknowledgement = AppMessage.plainAcknowledgement(packet.span) {
            self = acknowledgement
            return
        }
        var coder = FieldCoder(reading: try Packet(packet, count: packet.count).object())
        self = .launched
        try codeWhole(&coder)
    }

    /// The packet.
    package func encode() -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        append(to: &buffer)
        return buffer
    }

    /// Appends the packet to a buffer that the caller reuses.
    package func append(to buffer: inout [UInt8]) {
        if case .acknowledge(let delivery, let through) = self {
            return ValueWriter.append(to: &buffer, acknowledging: delivery, through: through)
        }
        var message = self
        FieldCoder.append(to: &buffer) { (coder) throws(WireError) in try message.codeWhole(&coder) }
    }

    private mutating func codeWhole(_ coder: inout FieldCoder) throws(WireError) {
        try coder.word("type", of: &self, unknown: WireError.unknownType)
        try code(&coder)
    }
}

extension AppMessage: CodedByWord {
    static let byWord = {
        var blanks: [Self] = [
            .hello(version: 0, client: "", pid: 0), .launched, .acknowledge(delivery: 0), .done,
            .beginTask(token: 0, name: nil), .endTask(token: 0), .timeRemaining(id: 0), .signpost(.blank),
        ]
        blanks += CentralRequest.blanks.map { .central(manager: 0, $0) }
        blanks += PeripheralRequest.blanks.map { .peripheral(manager: 0, peripheral: "", $0) }
        blanks += WirePeripheralManagerRequest.blanks.map { .peripheralManager(manager: 0, $0) }
        blanks += WireLocationRequest.blanks.map { .location(manager: 0, $0) }
        blanks += WireAudioRequest.blanks.map { .audio(manager: 0, $0) }
        blanks += WireAccessoryRequest.blanks.map { .accessory(manager: 0, $0) }
        blanks += WireVoIPRequest.blanks.map { .voip($0) }
        return table(blanks)
    }()

    var word: String {
        switch self {
        case .hello: "hello"
        case .launched: "launched"
        case .acknowledge: "ack"
        case .done: "done"
        case .beginTask: "task.begin"
        case .endTask: "task.end"
        case .timeRemaining: "time.remaining"
        case .signpost: "signpost"
        case .central(_, let request): request.word
        case .peripheral(_, _, let request): request.word
        case .peripheralManager(_, let request): request.word
        case .location(_, let request): request.word
        case .audio(_, let request): request.word
        case .accessory(_, let request): request.word
        case .voip(let request): request.word
        }
    }

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .hello(let version, let client, let pid, let batches):
            self = try .hello(
                version: coder.field("version", version, .whole(in: 1...1_000_000)),
                client: coder.field("client", client, .text),
                pid: coder.field("pid", pid, .whole(in: 1...Int64(Int32.max))),
                batches: coder.field("batches", batches, .bool, omitted: false)
            )
        case .acknowledge(let delivery, let through):
            let delivery = try coder.field("delivery", delivery, .whole)
            let through = try coder.field("through", through, .whole)
            if let through, through < delivery {
                throw .badValue(key: "through", expected: "at least 'delivery'")
            }
            self = .acknowledge(delivery: delivery, through: through)
        case .beginTask(let token, let name, let id):
            let id = try coder.field("id", id, .whole)
            self = try .beginTask(
                token: coder.field("token", token, .whole),
                name: coder.field("name", name, .text),
                id: id
            )
        case .endTask(let token): self = try .endTask(token: coder.field("token", token, .whole))
        case .timeRemaining(let id): self = try .timeRemaining(id: coder.field("id", id, .whole))
        case .signpost(let signpost): self = try .signpost(signpost.coded(&coder))
        case .launched, .done: break
        case .central, .peripheral, .peripheralManager, .location, .audio, .accessory, .voip:
            try codeRequest(&coder)
        }
    }

    /// The fields of a request to an area: whom it is for, then its own.
    private mutating func codeRequest(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .central(let manager, var request):
            self = try .central(manager: coder.request(of: manager, &request), request)
        case .peripheral(let manager, let peripheral, var request):
            let manager = try coder.field("manager", manager, .whole)
            let peripheral = try coder.field("peripheral", peripheral, .identifier)
            try request.code(&coder)
            self = .peripheral(manager: manager, peripheral: peripheral, request)
        case .peripheralManager(let manager, var request):
            self = try .peripheralManager(manager: coder.request(of: manager, &request), request)
        case .location(let manager, var request):
            self = try .location(manager: coder.request(of: manager, &request), request)
        case .audio(let manager, var request):
            self = try .audio(manager: coder.request(of: manager, &request), request)
        case .accessory(let manager, var request):
            self = try .accessory(manager: coder.request(of: manager, &request), request)
        case .voip(var request):
            try request.code(&coder)
            self = .voip(request)
        case .hello, .launched, .acknowledge, .done, .beginTask, .endTask, .timeRemaining, .signpost:
            preconditionFailure("\(word) is no request to an area")
        }
    }
}

extension FieldCoder {
    /// The number of a manager, which comes back, and the fields of a request to it.
    fileprivate mutating func request(
        of manager: UInt32,
        _ request: inout some CodedByWord
    ) throws(WireError) -> UInt32 {
        let manager = try field("manager", manager, .whole)
        try request.code(&self)
        return manager
    }
}
