import Testing
import WakeSystem

@Suite("The machine's ways to the network")
struct NetworkRoutesTests {
    private static let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    private func ways(_ routes: String, _ routes6: String = "") -> NetworkRoutes.Ways {
        NetworkRoutes.ways(routes: Self.head + routes, routes6: routes6) { $0.hasPrefix("wwan") }
    }

    @Test("A default route leads over its link, a modem's or another")
    func defaults() {
        let local = "wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
        let mobile = "wwan0\t00000000\t0102A8C0\t0003\t0\t0\t700\t00000000\t0\t0\t0\n"
        #expect(ways(local) == .local)
        #expect(ways(mobile) == .mobile)
        #expect(ways(local + mobile) == [.local, .mobile])
    }

    @Test("Routes to networks, and routes that refuse, are no ways out")
    func others() {
        #expect(ways("eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n") == [])
        #expect(ways("*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n") == [])
        #expect(ways("eth0\t00000000\n") == [])
        #expect(ways("") == [])
    }

    @Test("A default route of IPv6 counts, and the kernel's own refusal on lo does not")
    func sixth() {
        let zeros = String(repeating: "0", count: 32)
        let over = "\(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth0\n"
        let refusal = "\(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo\n"
        #expect(ways("", over) == .local)
        #expect(ways("", refusal) == [])
    }
}
