import Testing
import WakeProcesses

@Suite("What the kernel's files say")
struct KernelTextTests {
    @Test(
        "Processor time of a control group",
        arguments: [
            ("usage_usec 1198460919\nuser_usec 1110554627\nsystem_usec 87906291\n", 1_198_460_919_000),
            ("usage_usec 0\n", 0),
            ("user_usec 5\nusage_usec 7\n", 7_000),
            ("", nil),
            ("usage_usec\n", nil),
            ("usage_usec -1\n", nil),
            ("usage_usec many\n", nil),
            ("usage_usec 9223372036854775807\n", nil),
        ] as [(String, Int64?)]
    )
    func groupTime(text: String, expected: Int64?) {
        #expect(KernelText.groupTime(text) == expected)
    }

    @Test(
        "Processor time of children, whatever the process is called",
        arguments: [
            ("7 (app) S 1 7 7 0 -1 4194304 100 0 0 0 3 4 50 60 20 0 1 0 500 0 0", 110),
            ("7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 3 4 1 0 20 0 1 0 500 0 0", 1),
            ("7 (app) S 1 7 7", nil),
            ("", nil),
            ("7 app S 1 7 7 0 -1 4194304 100 0 0 0 3 4 50 60 20", nil),
        ] as [(String, Int64?)]
    )
    func childTicks(text: String, expected: Int64?) {
        #expect(KernelText.childTicks(text) == expected)
    }

    @Test("Memory is what is anonymous, shared or swapped, and no pages of files")
    func memory() {
        let status =
            "Name:\tapp\nVmRSS:\t    9000 kB\nRssAnon:\t     100 kB\nRssFile:\t    1820 kB\nRssShmem:\t      20 kB\nVmSwap:\t 3 kB\n"
        #expect(KernelText.memory(status: status) == Int64(123 * 1_024))
        let rollup =
            "5583d5ec9000-7ffe0b405000 ---p 00000000 00:00 0    [rollup]\nRss:  1668 kB\nPss:  276 kB\nPss_Anon:  112 kB\nPss_File: 164 kB\nPss_Shmem:  4 kB\nSwapPss:   1 kB\n"
        #expect(KernelText.memory(rollup: rollup) == Int64(117 * 1_024))
        #expect(KernelText.memory(status: "RssAnon: 5 kB\n") == nil)
        #expect(KernelText.memory(rollup: "") == nil)
    }

    @Test("Of the most memory at once the files are taken away that are mapped now")
    func peak() {
        let status = "VmPeak:\t  90000 kB\nVmHWM:\t   9000 kB\nRssAnon:\t     100 kB\nRssFile:\t    1820 kB\n"
        #expect(KernelText.peakMemory(status: status) == Int64(7_180 * 1_024))
        #expect(KernelText.peakMemory(status: "VmHWM: 5 kB\n") == nil)
    }

    @Test("What was counted of a process that has ended stays counted")
    func counted() {
        var count = ProcessorCount()
        #expect(count.now(100) == 100)
        #expect(count.now(40) == 100)
        #expect(count.now(50) == 110)
        #expect(count.atEnd(30) == 110)
        #expect(count.atEnd(500) == 500)
    }

    @Test(
        "Each form of a lock is read",
        arguments: [
            ("1: FLOCK  ADVISORY  WRITE 13667 fe:00:16226740 0 EOF", "an exclusive lock on /srv/a"),
            ("12: FLOCK  ADVISORY  READ 13667 fe:00:16226740 0 EOF", "a shared lock on /srv/a"),
            (
                "2: POSIX  ADVISORY  READ 7 fe:00:1 1073741826 1073742335",
                "a shared lock on /srv/a (bytes 1073741826 to 1073742335)"
            ),
            ("1: OFDLCK ADVISORY  WRITE -1 fe:00:16226245 0 EOF", "an exclusive lock on /srv/a"),
            ("1: POSIX  ADVISORY  WRITE 7 fe:00:1 5 EOF", "an exclusive lock on /srv/a (from byte 5)"),
        ]
    )
    func locks(line: String, expected: String) {
        let text = "pos:\t0\nflags:\t02100001\nmnt_id:\t27\nino:\t16226740\nlock:\t\(line)\n"
        #expect(FileLock.held(text, path: "/srv/a").map(\.text) == [expected])
    }

    @Test(
        "What is no lock that is held is none",
        arguments: [
            "1: LEASE  ACTIVE    READ 13667 fe:00:16226740 0 EOF", "1: -> FLOCK  ADVISORY  WRITE 1 fe:00:1 0 EOF",
            "1: POSIX  ADVISORY  WRITE 7 fe:00:1 9 5", "1: POSIX  ADVISORY  UNLCK 7 fe:00:1 0 EOF",
            "1: POSIX  ADVISORY  WRITE 7 fe:00:1 x EOF", "1: POSIX", "",
        ]
    )
    func noLock(line: String) {
        #expect(FileLock.held("lock:\t\(line)\n", path: "/srv/a") == [])
        #expect(FileLock.held(line, path: "/srv/a") == [])
    }

    @Test("A SQLite database in WAL mode that is merely open is told from one that is locked")
    func writeAheadLog() {
        func lock(_ range: String, _ path: String) -> FileLock? {
            FileLock.held("lock:\t1: POSIX  ADVISORY  READ 7 fe:00:1 \(range)\n", path: path).first
        }
        #expect(lock("128 128", "/srv/a.db-shm")?.saysOpen == true)
        #expect(lock("120 120", "/srv/a.db-shm")?.saysOpen == false)
        #expect(lock("128 129", "/srv/a.db-shm")?.saysOpen == false)
        #expect(lock("128 128", "/srv/a.db")?.saysOpen == false)
    }

    @Test("A lock lies in the folder of its file, and in those around it")
    func folder() throws {
        let lock = try #require(
            FileLock.held("lock:\t1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n", path: "/a/b/c").first
        )
        #expect(lock.isIn("/a/b"))
        #expect(lock.isIn("/a"))
        #expect(!lock.isIn("/a/b/c"))
        #expect(!lock.isIn("/a/bc"))
    }

    @Test("Sockets that listen are told from connections, with their addresses")
    func listeners() {
        let tcp = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1605 1 000000003bde968f 100 0 0 10 0
               1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 1606 1 000000003bde968f 100 0 0 10 0
               2: 010000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1607
               3: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 0 1

            """
        #expect(ListeningSocket.tcp(tcp) == [ListeningSocket(name: "tcp 127.0.0.1:8080", inode: 1_605)])
        let tcp6 =
            "0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 77 1\n"
        #expect(ListeningSocket.tcp(tcp6) == [ListeningSocket(name: "tcp [0:0:0:0:0:0:0:1]:80", inode: 77)])
        let unix = """
            Num       RefCount Protocol Flags    Type St Inode Path
            00000000ab3776e7: 00000003 00000000 00000000 0001 03 30174
            000000001a2a5d4d: 00000002 00000000 00010000 0001 01 30172 /run/a socket
            000000001a2a5d4e: 00000002 00000000 00010000 0005 01 30173
            """
        #expect(
            ListeningSocket.unix(unix) == [
                ListeningSocket(name: "unix /run/a socket", inode: 30_172),
                ListeningSocket(name: "unix (unnamed)", inode: 30_173),
            ]
        )
    }
}
