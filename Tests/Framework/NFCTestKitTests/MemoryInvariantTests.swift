// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

private let one: [UInt8] = [1, 2, 3, 4]
private let two: [UInt8] = [5, 6, 7, 8]
private let well = ", and the flow reported success"
private let neither = ", which is neither the old message nor the new one"
/// A message whose length is beyond the memory; one with the URI "a"; and no capability container.
private let long: MemoryInvariantTests.Writes = [(4, [0x03, 0xFF, 0xFF, 0xFF])]
private let link: MemoryInvariantTests.Writes = [
    (4, [0x03, 0x06, 0xD1, 0x01]), (5, [0x02, 0x55, 0x00, 0x61]), (6, [0xFE, 0, 0, 0]),
]
private let broken: MemoryInvariantTests.Writes = [(3, [0xFF, 0, 0, 0])]

/// What is held against the memory of tags after a run: `memoryIntact`, `noMessageLost` and `neverBricked`.
@Suite(.timeLimit(.minutes(10))) struct MemoryInvariantTests {
    typealias Writes = [(number: UInt8, bytes: [UInt8])]

    /// Writes pages or blocks of a tag, and may fail then.
    private final class Blocks: TagClient, @unchecked Sendable {
        struct Stopped: Error {}

        private let writes: Writes
        private let fails: Bool

        init(_ writes: Writes, with polling: NFCTagReaderSession.PollingOption = .iso14443, fails: Bool = false) {
            (self.writes, self.fails) = (writes, fails)
            super.init(polling, bug: .none)
        }

        @MainActor override func work(with tag: NFCTag) async throws -> String {
            for (number, bytes) in writes {
                switch tag {
                case .miFare(let tag):
                    _ = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, number] + bytes))
                case .iso15693(let tag):
                    // It does not look at what comes of it.
                    try? await tag.writeSingleBlock(
                        requestFlags: [.highDataRate, .address],
                        blockNumber: number,
                        dataBlock: Data(bytes)
                    )
                default: throw Failure.wrongTag
                }
            }
            if fails { throw Stopped() }
            return "written"
        }
    }

    /// What is found of a flow, which learns whether its run is the first one, without a fault.
    private static func finding<Value: Equatable & Sendable>(
        of invariant: Invariant = .memoryIntact,
        _ exploration: Exploration = .replay("flip@1"),
        near tag: TagSpec = "NTAG215",
        _ flow: @escaping @Sendable (TestField, Bool) async throws -> Value
    ) async throws -> String? {
        let runs = RunCount()
        let failure = try await failure(exploration, near: tag, invariants: [invariant]) { field in
            try await flow(field, runs.begin() == 1)
        }
        #expect(failure == nil || failure?.invariant == invariant.name, "\(failure?.line ?? "")")
        return failure?.finding
    }

    /// The same when a flow writes something in the first run, and something else, or fails, with a fault.
    private static func finding(
        of invariant: Invariant = .memoryIntact,
        first: Writes,
        later: Writes,
        fails: Bool = false
    ) async throws -> String? {
        try await finding(of: invariant) { field, isFirst -> String in
            try await Blocks(isFirst ? first : later, fails: !isFirst && fails).scan(field)
        }
    }

    // MARK: Any memory

    @Test func `memoryIntact: a flow that succeeds must leave the same memory as without faults`() async throws {
        let rows: [(first: Writes, later: Writes, words: String?)] = [
            ([(20, one)], [(20, one)], nil), ([(20, two), (20, one)], [(20, one)], nil),
            ([(20, one)], [(20, two)], "page 20 holds 05 06 07 08 and not 01 02 03 04"),
            ([(20, two), (20, one)], [(20, two)], "page 20 holds 05 06 07 08 and not 01 02 03 04"),
            // A page that is written only with the fault, the first one of two.
            ([(21, one)], [(21, one), (20, two)], "page 20 holds 05 06 07 08 and not 00 00 00 00"),
        ]
        for (first, later, words) in rows {
            let finding = try await Self.finding(first: first, later: later)
            #expect(finding?.split(separator: ": ").last.map(String.init) == words.map { $0 + well })
        }
    }

    @Test func `memoryIntact: a flow that fails leaves old bytes, or those written without faults`() async throws {
        for later in [[], [(20, two)], [(20, one)], [(20, two), (20, one)]] as [Writes] {
            #expect(try await Self.finding(first: [(20, two), (20, one)], later: later, fails: true) == nil)
        }
        let finding = try await Self.finding(first: [(20, one)], later: [(20, two)], fails: true)
        #expect(
            finding?.contains(
                """
                : page 20 holds 05 06 07 08, which is neither what it held before (00 00 00 00) nor what the flow writes \
                without faults (01 02 03 04). 
                """
            ) == true
        )
        // What belongs on another page; and a tear that never happens excuses nothing.
        #expect(try await Self.finding(first: [(20, one)], later: [(21, one)], fails: true) != nil)
        let torn = try await Self.finding(.replay("flip@1+tear@900:mixed")) { field, isFirst -> String in
            try await Blocks([(20, isFirst ? one : two)], fails: !isFirst).scan(field)
        }
        #expect(torn?.contains("page 20 holds 05 06 07 08, which is neither ") == true)
    }

    @Test(arguments: ["thrown", "shown by the app", "on the sheet", "cancelled"])
    func `memoryIntact: a flow that reports its failure in any way may leave bytes of an unfinished write`(way: String)
        async throws
    {
        let exploration: Exploration = way == "cancelled" ? .cancels : .replay("flip@1")
        let finding = try await Self.finding(exploration) { field, isFirst -> Bool in
            let whole: Writes = [(20, two), (20, one)]
            if isFirst || way == "cancelled" {
                _ = try? await Blocks(whole).scan(field)
                return true
            }
            _ = try? await Blocks([(20, two)], fails: way == "on the sheet").scan(field)
            if way == "shown by the app" { field.showedError("It did not work.") }
            if way == "thrown" { throw CocoaError(.featureUnsupported) }
            return true
        }
        #expect(finding == nil)
    }

    @Test func `memoryIntact: blocks without NDEF are checked too, and the invariant can be left out`() async throws {
        let flow: @Sendable (TestField) async throws -> String = { field in
            try await Blocks([(20, one), (21, two)], with: .iso15693).scan(field)
        }
        let failure = try await failure(.badAnswers, near: "ICODE SLIX2", flow)
        #expect(failure?.invariant == Invariant.memoryIntact.name)
        #expect(failure?.finding.hasSuffix("block 20 holds 00 00 00 00 and not 01 02 03 04" + well) == true)
        // The sheet says "written" too early.
        let rest = Invariant.all.except(.memoryIntact, .noEarlySuccess)
        #expect(rest.count == Invariant.all.count - 2)
        #expect(try await NFCTestKitTests.failure(.badAnswers, near: "ICODE SLIX2", invariants: rest, flow) == nil)
    }

    @Test(arguments: [
        ("generic Type 4", ": file E104, byte "), ("generic Type 3", ": service 0009, block "),
        ("NTAG 424 DNA", ": file 2, byte "), ("Topaz 512", ": byte "), ("NTAG213", ": page "),
        ("ICODE SLIX", ": block "), ("FeliCa Lite-S", ": block "),
    ]) func `memoryIntact: the finding names the part that a command writes`(product: String, place: String)
        async throws
    {
        let tag = TagSpec.product(product, holding: .uri(oldLink))
        let finding = try await Self.finding(.losses, near: tag) { field, _ in
            try await LinkClient.run(field, bug: .ignoresWriteError)
        }
        #expect(finding?.contains(place) == true && finding?.hasSuffix(well) == true, "\(finding ?? "passed")")
    }

    // MARK: Several tags

    @Test func `memoryIntact: a write to a tag that the flow did not bring is found`() async throws {
        let finding = try await Self.finding { field, isFirst -> String in
            if !isFirst { try await field.swap(for: "NTAG215") }
            return try await Blocks([(20, one)], fails: !isFirst).scan(field)
        }
        #expect(finding?.hasSuffix(" was written, but is not the flow's tag") == true)
    }

    @Test func `memoryIntact: a tag that the flow brings itself may be written`() async throws {
        let fine = try await failure([.losses, .secondTags]) { field in
            try await field.swap(for: .product("NTAG215", holding: .uri("https://example.com/swapped")))
            try await LinkClient.persist(field)
            return true
        }
        #expect(fine == nil, "\(fine?.description ?? "passed")")
    }

    @Test func `memoryIntact: unchecked if no tag can be copied, or nothing was written`() async throws {
        let rows: [(tag: TagSpec, reason: String?, flow: @Sendable (TestField) async throws -> Void)] = [
            (AppletReader.card, "no tag's memory can be copied", { _ = try? await LinkReader.run($0) }),
            ("NTAG215", "no memory was written", { _ = try? await LinkReader.run($0) }),
            // What is written and taken back counts as written.
            ("NTAG215", nil, { _ = try await Blocks([(20, one), (20, [0, 0, 0, 0])]).scan($0) }),
        ]
        for (tag, reason, flow) in rows {
            let report = try await explore(.replay("flip@1"), near: tag, invariants: [.memoryIntact]) {
                try await flow($0)
            }
            #expect(report.unchecked.first?.reason == reason)
        }
    }

    // MARK: Messages

    @Test func `noMessageLost: the old message or the new one stands, however the flow ends`() async throws {
        let rows: [(first: Writes, later: Writes, fails: Bool, end: String?)] = [
            ([], link, false, " holds URI a" + well), ([], link, true, " holds URI a" + neither),
            ([], long, false, " holds nothing that can be read" + well),
            ([], long, true, " holds nothing that can be read" + neither), (link, [], true, nil),
        ]
        for (first, later, fails, end) in rows {
            let found = try await Self.finding(of: .noMessageLost, first: first, later: later, fails: fails)
            #expect(end.map { found?.hasSuffix($0) == true } ?? (found == nil), "\(found ?? "passed")")
        }
    }

    @Test func `neverBricked: a tag can still be read and written, or mended by a write`() async throws {
        // The last byte of the capability container makes the tag read-only, and a bit that is set stays set.
        let lock: Writes = [(3, [0, 0, 0, 0x0F])]
        let rows: [(first: Writes, later: Writes, fails: Bool, words: String?)] = [
            ([], lock, false, " can no longer be written"), ([], lock, true, " can no longer be written"),
            (lock, lock, false, nil), ([], long, false, nil),
            ([], broken, true, " can no longer be read or written: "),
        ]
        for (first, later, fails, words) in rows {
            let found = try await Self.finding(of: .neverBricked, first: first, later: later, fails: fails)
            #expect(words.map { found?.contains($0) == true } ?? (found == nil), "\(found ?? "passed")")
        }
        // A tag that a write mends hides no other one that none does.
        let found = try await Self.finding(of: .neverBricked) { field, isFirst -> String in
            _ = try await Blocks(isFirst ? [] : long).scan(field)
            try await field.swap(for: "NTAG213")
            return try await Blocks(isFirst ? [] : broken).scan(field)
        }
        #expect(found?.hasPrefix("NTAG213") == true, "\(found ?? "passed")")
    }
}
