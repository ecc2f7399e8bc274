// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import Testing

@Suite("A spool whose program is killed", .serialized)
struct CrashTests {
    @Test(
        "Killed program: its spool has every event that was reported as stored, in order and without a gap",
        .timeLimit(.minutes(5))
    )
    func kill() async throws {
        let folder = try TestFolder()
        let output = folder.path + "/output"
        var known = 0
        for _ in 1...4 {
            let writer = try TestProgram(TestProgram.built("spool-writer"), [folder.path + "/state"], output: output)
            let deadline = ContinuousClock.now + .seconds(60)
            while Self.lastNumber(output) < known + 8, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            writer.kill()
            let reported = Self.lastNumber(output)
            #expect(reported >= known + 8, "The writer has not written.")
            let node = try #require(FleetName("writer"))
            let spool = try Spool(folder: folder.path + "/state", node: node)
            let numbers = try await spool.waiting(after: 0, limit: 1_000_000).map(\.sequence)
            #expect(numbers == Array(1...Int64(numbers.count)))
            #expect(numbers.count >= reported)
            // At most the event that was stored and not yet reported is more.
            #expect(numbers.count <= reported + 1)
            known = numbers.count
        }
    }

    /// The last whole line of the output.
    private static func lastNumber(_ path: String) -> Int {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().last.flatMap { Int($0) } ?? 0
    }

    @Test(
        "Full disk: the oldest events are dropped, every new event is stored, and events-dropped is reported",
        .enabled(if: SmallDisk.isPossible, "Only root can mount a small disk."),
        .timeLimit(.minutes(5))
    )
    func fullDisk() async throws {
        let disk = try SmallDisk(megabytes: 6)
        let node = try #require(FleetName("node"))
        let reader = try #require(FleetName("reader"))
        let spool = try Spool(folder: disk.path + "/state", node: node)
        var failures = 0
        for _ in 0..<2500 {
            let event = FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: 4000))])
            do throws(SpoolError) {
                _ = try await spool.append([(reader, event)])
            } catch {
                #expect(error.code == .diskFull)
                failures += 1
            }
        }
        let events = try await spool.waiting(after: 0, limit: 10_000)
        let reports = try events.map { try JSONValue(parsing: $0.payload) }.filter {
            $0["type"]?.text == EventKind.error.type
        }
        // 10 MB of events were stored on 6 MB, so some had to go, and that was said.
        #expect(!reports.isEmpty)
        #expect(events.last?.sequence ?? 0 >= 2500)
        #expect(failures == 0, "\(failures) events could not be stored.")
    }

    @Test(
        "Disk filled by other programs: events that could not be stored are reported when there is room",
        .enabled(if: SmallDisk.isPossible, "Only root can mount a small disk."),
        .timeLimit(.minutes(1))
    )
    func filledByOthers() async throws {
        let disk = try SmallDisk(megabytes: 6)
        let node = try #require(FleetName("node"))
        let reader = try #require(FleetName("reader"))
        var settings = SpoolSettings()
        settings.reserve = 0
        let spool = try Spool(folder: disk.path + "/state", node: node, settings: settings)
        let filler = disk.path + "/filler"
        #expect(try await TestProgram.run("/bin/sh", ["-c", "cat /dev/zero > \(filler)"]).status != 0)
        let large = FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: 400_000))])
        for _ in 0..<3 {
            // They get their numbers, if the disk takes even those.
            do throws(SpoolError) {
                let events = try await spool.append([(reader, large)]).events
                #expect(events.map(\.isStored) == [false])
                try await spool.drop(events.map(\.place))
            } catch {
                #expect(error.code == .diskFull)
            }
        }
        try FileManager.default.removeItem(atPath: filler)
        let stored = try await spool.append([(reader, FleetEvent(.tag, time: 0))]).events
        #expect(stored.map(\.sequence) == [4, 5])
        let report = try JSONValue(parsing: try #require(stored.first).payload)["data"]
        #expect(report?["code"] == "events-dropped")
        #expect(report?["count"] == 3)
        #expect(report?["first"] == 1)
        #expect(report?["last"] == 3)
        #expect(report?["message"]?.text?.contains("limit_mb") == false)
        #expect(report?["message"]?.text?.contains("The disk") == true)
    }

    @Test(
        "Full disk: reported as a full disk and never as a full spool, with either policy",
        .enabled(if: SmallDisk.isPossible, "Only root can mount a small disk."),
        .timeLimit(.minutes(1)),
        arguments: [AgentConfiguration.FullPolicy.oldest, .newest]
    )
    func fullDiskOrSpool(_ policy: AgentConfiguration.FullPolicy) async throws {
        let disk = try SmallDisk(megabytes: 8)
        let reader = try #require(FleetName("reader"))
        var settings = SpoolSettings()
        settings.policy = policy
        let spool = try Spool(folder: disk.path + "/state", node: try #require(FleetName("node")), settings: settings)
        let event = FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: 4000))])
        for _ in 0..<50 { _ = try await spool.append([(reader, event)]) }
        let filler = disk.path + "/filler"
        #expect(try await TestProgram.run("/bin/sh", ["-c", "cat /dev/zero > \(filler)"]).status != 0)
        var shortages: Set<SpoolShortage?> = []
        for _ in 0..<50 {
            do throws(SpoolError) {
                let stored = try await spool.append([(reader, event)])
                shortages.insert(stored.shortage)
                try await spool.drop(stored.events.filter { !$0.isStored }.map(\.place))
            } catch {
                #expect(error.code == .diskFull)
            }
        }
        #expect(shortages.contains(.disk) && !shortages.contains(.limit), "\(shortages)")
        try FileManager.default.removeItem(atPath: filler)
        #expect(try await spool.announceDropped(time: 0).events.count == 1)
        let reports = try await spool.waiting(after: 0, limit: 1000).map { try JSONValue(parsing: $0.payload)["data"] }
            .filter { $0?["code"] == "events-dropped" }
        #expect(!reports.isEmpty)
        for report in reports {
            #expect(report?["message"]?.text?.contains("The disk with the state folder is full.") == true)
            #expect(report?["message"]?.text?.contains("limit_mb") == false)
        }
    }
}

/// A disk in memory, so that one can be full.
final class SmallDisk {
    let path: String
    private let folder: TestFolder

    /// Whether this user can mount one.
    static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(megabytes: 1) else { return false }
        _ = disk
        return true
    }()

    init(megabytes: Int) throws {
        folder = try TestFolder()
        path = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m,mode=0700") == 0 else {
            throw TestProblem("A disk can't be mounted: \(unsafe String(cString: strerror(errno)))")
        }
    }

    deinit { unsafe umount2(path, Int32(MNT_DETACH)) }
}
