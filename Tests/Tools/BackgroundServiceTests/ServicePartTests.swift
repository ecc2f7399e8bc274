// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import Testing

@testable import nfcd

@Suite struct `What the service reckons` {
    @MainActor
    @Test(
        arguments: [
            (.zero, "0.000"), (.microseconds(1), "0.001"), (.milliseconds(12), "12.000"),
            (Duration.seconds(3) + .microseconds(45), "3000.045"), (.microseconds(1_999_999), "1999.999"),
            // Whole microseconds.
            (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999_999), "0.000"),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_000_000), "0.001"),
        ] as [(Duration, String)]
    )
    func `are milliseconds with three decimals`(duration: Duration, text: String) {
        #expect(ReadingControl.milliseconds(duration) == text)
    }

    @MainActor @Test func `is a camera by the name of its device file`() {
        let names = [
            "video0", "video12", "video345", "videox", "video1x", "0video", "12345678", "rfkill", "audio0", "vide0",
        ]
        let cameras = names.filter { SystemFiles.isCamera($0) }
        #expect(cameras == ["video0", "video12", "video345"])
    }

    @MainActor @Test func `is open when a program has it open, by any of its names`() throws {
        let folder = try ScratchFolder()
        let (path, link, pipe) = (folder.path("open"), folder.path("link"), folder.path("pipe"))
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let files: [Set<String>] = [[path], [link], [pipe, path], [pipe], [folder.path("missing")], []]
        let areOpen = files.map { SystemFiles.isOpen($0) }
        #expect(areOpen == [true, true, true, false, false, false])
        try file.close()
    }
}

/// When the service asks the sites of apps for their association files.
@Suite struct `The service's visits to sites` {
    /// What is known of a site: when it was asked, how often it has failed since, and why.
    private static func site(asked: Int64, failures: Int = 0, _ reason: String = "") throws -> CachedAssociation {
        let outcome = failures == 0 ? "\(asked) 2 0 \n{}" : "- - \(failures) \(reason)\n"
        let bytes = Array("nfc-links 2 \(asked) \(outcome)".utf8)
        return try #require(CachedAssociation(domain: "a.example", bytes: bytes))
    }

    private static let week: Int64 = 7 * 24 * 3600

    @MainActor @Test func `come at once to one that is new, and to others when they are due`() throws {
        let known = try Self.site(asked: 1000)
        let failed = try Self.site(asked: 1000, failures: 1, "unreachable: It is gone.")
        let cases: [(known: CachedAssociation?, now: Int64, retriesFailures: Bool, isDue: Bool)] = [
            (nil, 1000, false, true),
            (known, 999 + Self.week, false, false), (known, 1000 + Self.week, false, true),
            (known, 999 + Self.week, true, false), (known, 1000 + Self.week, true, true),
            (failed, 1059, false, false), (failed, 1059, true, true), (failed, 1060, false, true),
        ]
        for (known, now, retriesFailures, isDue) in cases {
            let found = LinkRefresh.isDue(known, at: now, retriesFailures: retriesFailures)
            #expect(found == isDue, "\(now) \(retriesFailures)")
        }
    }

    @MainActor
    @Test(
        arguments: [
            ([], 3600), ([1000], 2), ([1001], 2), ([1002], 2), ([1003], 3), ([1500, 1100, 1200], 100), ([4599], 3599),
            ([4600], 3600), ([4601], 3600), ([9000], 3600),
        ] as [([Int64], Int64)]
    )
    func `come when the first of them is due, but not at once and at least every hour`(times: [Int64], pause: Int64) {
        #expect(LinkRefresh.pause(until: times, at: 1000) == pause)
    }

    @MainActor
    @Test(
        arguments: [
            (1, 1000, "in a minute"), (1, 1059, "in a minute"), (1, 1060, "in a minute"), (2, 1000, "in 2 minutes"),
            (2, 1059, "in 2 minutes"), (2, 1060, "in a minute"), (20, 1000, "in 360 minutes"),
        ] as [(Int, Int64, String)]
    )
    func `are told with the next try`(failures: Int, now: Int64, next: String) throws {
        let failed = try Self.site(asked: 1000, failures: failures, "unreachable: It is gone.")
        let text = "The links of a.example: unreachable: It is gone. The next try is \(next)"
        #expect(LinkRefresh.text(failed, at: now) == text + ", or when there is a network again.")
    }

    @MainActor @Test func `come soon when something has changed meanwhile, and otherwise when they are due`() {
        var settling = ChangeSettling()
        #expect(LinkRefresh.pause(settling, until: 100) == .seconds(100))
        _ = settling.change(at: .zero)
        #expect(LinkRefresh.pause(settling, until: 100) == ChangeSettling.pause)
        settling.settle()
        #expect(LinkRefresh.pause(settling, until: 3) == .seconds(3))
    }

    @MainActor @Test func `are told when they bring a file`() throws {
        #expect(LinkRefresh.text(try Self.site(asked: 1000), at: 1000) == "The links of a.example: fetched.")
    }
}
