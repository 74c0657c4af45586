import Testing
import WakeProcesses

@Suite("Where control groups can be made")
struct GroupRootsTests {
    @Test("Both hierarchies are found beside each other")
    func hybrid() {
        let mounts = """
            37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw
            """
        let roots = GroupRoots(mounts: mounts, groups: "6:freezer:/\n4:memory:/other\n0::/\n")
        #expect(
            roots == GroupRoots(version2: "/sys/fs/cgroup/unified", version1: "/sys/fs/cgroup/freezer")
        )
    }

    @Test("The bench's own group is below the mount, less the part that is mounted")
    func ownGroup() {
        let mounts = "30 25 0:26 /outer /mnt/c\\040g rw - cgroup2 cgroup2 rw"
        #expect(GroupRoots(mounts: mounts, groups: "0::/outer/a:b").version2 == "/mnt/c g/a:b")
        #expect(GroupRoots(mounts: mounts, groups: "0::/outer").version2 == "/mnt/c g")
        #expect(GroupRoots(mounts: mounts, groups: "0::/outermost").version2 == nil)
        #expect(GroupRoots(mounts: mounts, groups: "0::/../..").version2 == nil)
    }

    @Test("Text that is neither gives nothing", arguments: ["", "a b c", "::::", "0::", "1 2 3 4 5 6 7 -"])
    func nonsense(text: String) {
        #expect(GroupRoots(mounts: text, groups: text) == GroupRoots())
    }
}
