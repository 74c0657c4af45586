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
    case scn1
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
    case mode4
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
    case loc11
    case loc12
    case sess3
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
    case mon3
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
    case push10
    case push12
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
    case btc12
    case btc13
    case btc14
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
    case bgt15
    case note1
    case note2
    case note3
    case note4
    case note5
    case note6
    case note7
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

    /// The id as printed, such as `LAUNCH-2`: the case in capitals, with a dash before the number.
    package var text: String { Self.texts[Int(rawValue)] }

    private static let texts = allCases.map { rule in
        let name = "\(rule)"
        let letters = name.prefix { !$0.isNumber }
        return "\(letters.uppercased())-\(name.dropFirst(letters.count))"
    }

    private static let byText = Dictionary(uniqueKeysWithValues: zip(texts, allCases))

    /// The rule for a printed id; nil when there is none.
    package init?(text: String) {
        guard let rule = Self.byText[text] else { return nil }
        self = rule
    }
}
