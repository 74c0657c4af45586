/// The numbers of the rulebook. They are part of the product: users search for them.
public enum RuleID: UInt8, CaseIterable, Sendable {
    case life1
    case life2
    case life3
    case life4
    case life5
    case life6
    case life7
    case life8
    case life9
    case life10
    case life11
    case launch1
    case launch2
    case launch3
    case launch4
    case launch5
    case launch6
    case launch7
    case launch8
    case task1
    case task2
    case task3
    case task4
    case task5
    case task6
    case task7
    case task8
    case mode1
    case mode2
    case mode3
    case loc1
    case loc2
    case loc3
    case loc4
    case loc5
    case loc6
    case loc7
    case loc8
    case loc9
    case loc10
    case reg1
    case reg2
    case reg3
    case reg4
    case reg5
    case reg6
    case reg7
    case bcn1
    case bcn2
    case bcn3
    case bcn4
    case aud1
    case aud2
    case aud3
    case aud4
    case aud5
    case aud6
    case aud7
    case aud8
    case aud9
    case aud10
    case aud11
    case aud12
    case voip1
    case voip2
    case voip3
    case voip4
    case voip5
    case voip6
    case voip7
    case voip8
    case fetch1
    case fetch2
    case fetch3
    case fetch4
    case fetch5
    case fetch6
    case push1
    case push2
    case push3
    case push4
    case push5
    case push6
    case push7
    case push8
    case push9
    case news1
    case news2
    case xfer1
    case xfer2
    case xfer3
    case xfer4
    case xfer5
    case xfer6
    case xfer7
    case xfer8
    case xfer9
    case xfer10
    case ea1
    case ea2
    case ea3
    case ea4
    case ea5
    case ea6
    case btc1
    case btc2
    case btc3
    case btc4
    case btc5
    case btc6
    case btc7
    case btc8
    case btc9
    case btc10
    case btc11
    case btp1
    case btp2
    case btp3
    case btp4
    case btp5
    case bt1
    case bt2
    case bgt1
    case bgt2
    case bgt3
    case bgt4
    case bgt5
    case bgt6
    case bgt7
    case bgt8
    case bgt9
    case bgt10
    case bgt11
    case bgt12
    case note1
    case note2
    case note3
    case note4
    case note5
    case note6
    case resp1
    case resp2
    case resp3
    case resp4
    case resp5
    case resp6
    case mem1
    case mem2
    case mem3
    case cpu1
    case cpu2
    case opt1
    case opt2
    case pwr1
    case pwr2
    case pwr3
    case pwr4
    case sys1
    case sys2
    case sys3
    case sys4
    case sys5

    /// The id as printed, such as `LAUNCH-2`.
    package var text: String {
        switch self {
        case .life1: "LIFE-1"
        case .life2: "LIFE-2"
        case .life3: "LIFE-3"
        case .life4: "LIFE-4"
        case .life5: "LIFE-5"
        case .life6: "LIFE-6"
        case .life7: "LIFE-7"
        case .life8: "LIFE-8"
        case .life9: "LIFE-9"
        case .life10: "LIFE-10"
        case .life11: "LIFE-11"
        case .launch1: "LAUNCH-1"
        case .launch2: "LAUNCH-2"
        case .launch3: "LAUNCH-3"
        case .launch4: "LAUNCH-4"
        case .launch5: "LAUNCH-5"
        case .launch6: "LAUNCH-6"
        case .launch7: "LAUNCH-7"
        case .launch8: "LAUNCH-8"
        case .task1: "TASK-1"
        case .task2: "TASK-2"
        case .task3: "TASK-3"
        case .task4: "TASK-4"
        case .task5: "TASK-5"
        case .task6: "TASK-6"
        case .task7: "TASK-7"
        case .task8: "TASK-8"
        case .mode1: "MODE-1"
        case .mode2: "MODE-2"
        case .mode3: "MODE-3"
        case .loc1: "LOC-1"
        case .loc2: "LOC-2"
        case .loc3: "LOC-3"
        case .loc4: "LOC-4"
        case .loc5: "LOC-5"
        case .loc6: "LOC-6"
        case .loc7: "LOC-7"
        case .loc8: "LOC-8"
        case .loc9: "LOC-9"
        case .loc10: "LOC-10"
        case .reg1: "REG-1"
        case .reg2: "REG-2"
        case .reg3: "REG-3"
        case .reg4: "REG-4"
        case .reg5: "REG-5"
        case .reg6: "REG-6"
        case .reg7: "REG-7"
        case .bcn1: "BCN-1"
        case .bcn2: "BCN-2"
        case .bcn3: "BCN-3"
        case .bcn4: "BCN-4"
        case .aud1: "AUD-1"
        case .aud2: "AUD-2"
        case .aud3: "AUD-3"
        case .aud4: "AUD-4"
        case .aud5: "AUD-5"
        case .aud6: "AUD-6"
        case .aud7: "AUD-7"
        case .aud8: "AUD-8"
        case .aud9: "AUD-9"
        case .aud10: "AUD-10"
        case .aud11: "AUD-11"
        case .aud12: "AUD-12"
        case .voip1: "VOIP-1"
        case .voip2: "VOIP-2"
        case .voip3: "VOIP-3"
        case .voip4: "VOIP-4"
        case .voip5: "VOIP-5"
        case .voip6: "VOIP-6"
        case .voip7: "VOIP-7"
        case .voip8: "VOIP-8"
        case .fetch1: "FETCH-1"
        case .fetch2: "FETCH-2"
        case .fetch3: "FETCH-3"
        case .fetch4: "FETCH-4"
        case .fetch5: "FETCH-5"
        case .fetch6: "FETCH-6"
        case .push1: "PUSH-1"
        case .push2: "PUSH-2"
        case .push3: "PUSH-3"
        case .push4: "PUSH-4"
        case .push5: "PUSH-5"
        case .push6: "PUSH-6"
        case .push7: "PUSH-7"
        case .push8: "PUSH-8"
        case .push9: "PUSH-9"
        case .news1: "NEWS-1"
        case .news2: "NEWS-2"
        case .xfer1: "XFER-1"
        case .xfer2: "XFER-2"
        case .xfer3: "XFER-3"
        case .xfer4: "XFER-4"
        case .xfer5: "XFER-5"
        case .xfer6: "XFER-6"
        case .xfer7: "XFER-7"
        case .xfer8: "XFER-8"
        case .xfer9: "XFER-9"
        case .xfer10: "XFER-10"
        case .ea1: "EA-1"
        case .ea2: "EA-2"
        case .ea3: "EA-3"
        case .ea4: "EA-4"
        case .ea5: "EA-5"
        case .ea6: "EA-6"
        case .btc1: "BTC-1"
        case .btc2: "BTC-2"
        case .btc3: "BTC-3"
        case .btc4: "BTC-4"
        case .btc5: "BTC-5"
        case .btc6: "BTC-6"
        case .btc7: "BTC-7"
        case .btc8: "BTC-8"
        case .btc9: "BTC-9"
        case .btc10: "BTC-10"
        case .btc11: "BTC-11"
        case .btp1: "BTP-1"
        case .btp2: "BTP-2"
        case .btp3: "BTP-3"
        case .btp4: "BTP-4"
        case .btp5: "BTP-5"
        case .bt1: "BT-1"
        case .bt2: "BT-2"
        case .bgt1: "BGT-1"
        case .bgt2: "BGT-2"
        case .bgt3: "BGT-3"
        case .bgt4: "BGT-4"
        case .bgt5: "BGT-5"
        case .bgt6: "BGT-6"
        case .bgt7: "BGT-7"
        case .bgt8: "BGT-8"
        case .bgt9: "BGT-9"
        case .bgt10: "BGT-10"
        case .bgt11: "BGT-11"
        case .bgt12: "BGT-12"
        case .note1: "NOTE-1"
        case .note2: "NOTE-2"
        case .note3: "NOTE-3"
        case .note4: "NOTE-4"
        case .note5: "NOTE-5"
        case .note6: "NOTE-6"
        case .resp1: "RESP-1"
        case .resp2: "RESP-2"
        case .resp3: "RESP-3"
        case .resp4: "RESP-4"
        case .resp5: "RESP-5"
        case .resp6: "RESP-6"
        case .mem1: "MEM-1"
        case .mem2: "MEM-2"
        case .mem3: "MEM-3"
        case .cpu1: "CPU-1"
        case .cpu2: "CPU-2"
        case .opt1: "OPT-1"
        case .opt2: "OPT-2"
        case .pwr1: "PWR-1"
        case .pwr2: "PWR-2"
        case .pwr3: "PWR-3"
        case .pwr4: "PWR-4"
        case .sys1: "SYS-1"
        case .sys2: "SYS-2"
        case .sys3: "SYS-3"
        case .sys4: "SYS-4"
        case .sys5: "SYS-5"
        }
    }

    /// The rule for a printed id; nil when there is none.
    package init?(text: String) {
        guard let rule = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = rule
    }
}
