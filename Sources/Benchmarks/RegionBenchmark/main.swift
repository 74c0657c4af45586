import Glibc
import WakeModel
import WakeRouter

// What a fix costs with so many monitored regions, beside a look at each of them, and whether both find the same
// crossings. Exits 1 when they do not, or when fewer than 10 boundaries are within 1 km of a fix.

let sizes = [100, 10_000, 100_000]
let fixes = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20_000
let passes = 5

var failed = false
var driving: [Double] = []
print(
    "regions  boundaries within 1 km  crossings  hash              ns a fix  ns a fix, jumping  ns a fix, linear scan"
)
for size in sizes {
    let country = RegionCountry(regions: size, fixes: fixes)
    var linear = LinearWatch(country.regions)
    let linearCost = cost(country.drive) { linear.move(to: $0, fix: $1) }
    var drivingCost = Double.infinity
    var jumpingCost = Double.infinity
    var crossings = Crossings()
    for _ in 0..<passes {
        var watch = IndexedWatch(country.regions)
        // The first position tells of every region, and is counted in neither.
        watch.move(to: country.drive[0], fix: 0)
        drivingCost = min(drivingCost, cost(country.drive) { watch.move(to: $0, fix: $1) })
        crossings = watch.crossings
        jumpingCost = min(jumpingCost, cost(country.jumps) { watch.move(to: $0, fix: $1) })
    }
    driving.append(drivingCost)
    let near = fewestBoundaries(country)
    print(
        "\(padded(size, 7))  \(padded(near, 22))  \(padded(crossings.count, 9))  \(hexadecimal(crossings.hash))"
            + "  \(padded(Int(drivingCost), 8))  \(padded(Int(jumpingCost), 17))  \(padded(Int(linearCost), 21))"
    )
    if crossings != linear.crossings {
        failed = true
        print("the linear scan found \(linear.crossings.count) crossings, hash \(hexadecimal(linear.crossings.hash))")
    }
    if near < 10 { failed = true }
}
print("crossings of index and linear scan: \(failed ? "NOT as they must be" : "identical at every size")")
print("cost at \(sizes[2]) regions to cost at \(sizes[0]): \(Int(100 * driving[2] / driving[0])) %")
exit(failed ? 1 : 0)

/// Nanoseconds of processor time for each position.
func cost(_ positions: [Direction], _ move: (Direction, Int) -> Void) -> Double {
    let began = processorTime()
    for fix in positions.indices { move(positions[fix], fix) }
    return Double(processorTime() - began) / Double(positions.count)
}

/// The smallest number of boundaries within 1 km of a fix, of every hundredth fix.
func fewestBoundaries(_ country: RegionCountry) -> Int {
    let kilometre = RegionCountry.chord(1_000)
    var fewest = Int.max
    for fix in stride(from: 0, to: country.drive.count, by: 100) {
        let position = country.drive[fix]
        let near = country.regions.count {
            abs(position.chordSquared(to: $0.center).squareRoot() - $0.radius) <= kilometre
        }
        fewest = min(fewest, near)
    }
    return fewest
}

/// The processor time of this process in nanoseconds.
func processorTime() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
}

func hexadecimal(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}
