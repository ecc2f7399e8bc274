// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The memory of a tag after a run` {
    /// Writes pages or blocks of a tag, without a look at what comes of it, and may fail then.
    private final class Blocks: TagClient, @unchecked Sendable {
        struct Stopped: Error {}

        private let writes: [(number: UInt8, bytes: [UInt8])]
        private let fails: Bool

        init(_ polling: NFCTagReaderSession.PollingOption, _ writes: [(number: UInt8, bytes: [UInt8])], fails: Bool) {
            self.writes = writes
            self.fails = fails
            super.init(polling, bug: .none)
        }

        @MainActor override func work(with tag: NFCTag) async throws -> String {
            for (number, bytes) in writes {
                switch tag {
                case .miFare(let tag):
                    _ = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, number] + bytes))
                case .feliCa(let tag):
                    let status = try await tag.writeWithoutEncryption(
                        serviceCodeList: [Data([0x09, 0x00])],
                        blockList: [Data([0x80, number])],
                        blockData: [Data(bytes)]
                    )
                    guard status == (0, 0) else { throw Failure.refused }
                default: throw Failure.wrongTag
                }
            }
            if fails { throw Stopped() }
            return "written"
        }
    }

    private static let one: [UInt8] = [1, 2, 3, 4]
    private static let two: [UInt8] = [5, 6, 7, 8]

    /// What is found of a flow, by default when a bit of the answer to its first exchange flips.
    ///
    /// - Parameter flow: learns whether a run is the first one, which has no fault.
    private static func failure<Value: Equatable & Sendable>(
        _ exploration: Exploration = .replay("flip@1"),
        of invariant: Invariant = .memoryIntact,
        _ flow: @escaping @Sendable (TestField, Bool) async throws -> Value
    ) async throws -> ExplorationFailure? {
        let runs = RunCount()
        return try await `What is checked after a run`.failure(
            exploration,
            near: "NTAG215",
            invariants: [invariant]
        ) { field in try await flow(field, runs.beginsFirst()) }
    }

    /// What is said when a flow writes something in the first run, and something else in those with a fault.
    private static func wholeFinding(
        of invariant: Invariant,
        first: [(number: UInt8, bytes: [UInt8])],
        later: [(number: UInt8, bytes: [UInt8])],
        fails: Bool
    ) async throws -> String? {
        let failure = try await Self.failure(of: invariant) { field, isFirst -> String in
            try await Blocks(.iso14443, isFirst ? first : later, fails: !isFirst && fails).scan(field)
        }
        guard let finding = failure?.finding else { return nil }
        #expect(failure?.invariant == invariant.name)
        return finding
    }

    /// The same of the memory, without the tag's name.
    private static func finding(
        first: [(number: UInt8, bytes: [UInt8])],
        later: [(number: UInt8, bytes: [UInt8])],
        fails: Bool
    ) async throws -> String? {
        try await wholeFinding(of: .memoryIntact, first: first, later: later, fails: fails)?
            .split(separator: ": ", maxSplits: 1).last.map(String.init)
    }

    @Test func `A flow that ends well leaves what it leaves without faults`() async throws {
        let (one, two) = (Self.one, Self.two)
        #expect(try await Self.finding(first: [(20, one)], later: [(20, one)], fails: false) == nil)
        #expect(
            try await Self.finding(first: [(20, one)], later: [(20, two)], fails: false)
                == "page 20 holds 05 06 07 08 and not 01 02 03 04, and the flow ended as if all were well"
        )
        // The last of what it wrote counts, and not what was in between.
        #expect(try await Self.finding(first: [(20, two), (20, one)], later: [(20, one)], fails: false) == nil)
        #expect(
            try await Self.finding(first: [(20, two), (20, one)], later: [(20, two)], fails: false)
                == "page 20 holds 05 06 07 08 and not 01 02 03 04, and the flow ended as if all were well"
        )
        // A page that is written only with the fault, the first one of two.
        #expect(
            try await Self.finding(first: [(21, one)], later: [(21, one), (20, two)], fails: false)
                == "page 20 holds 05 06 07 08 and not 00 00 00 00, and the flow ended as if all were well"
        )
    }

    @Test func `A flow that fails leaves what was there, or anything that it writes without faults`() async throws {
        let (one, two) = (Self.one, Self.two)
        for later in [[], [(20, two)], [(20, one)], [(20, two), (20, one)]] as [[(number: UInt8, bytes: [UInt8])]] {
            #expect(try await Self.finding(first: [(20, two), (20, one)], later: later, fails: true) == nil)
        }
        let finding = try #require(try await Self.finding(first: [(20, one)], later: [(20, two)], fails: true))
        #expect(
            finding.hasPrefix(
                """
                page 20 holds 05 06 07 08, which is neither what it held before (00 00 00 00) nor what the flow writes without \
                faults (01 02 03 04). 
                """
            )
        )
        // What belongs on another page.
        #expect(try await Self.finding(first: [(20, one)], later: [(21, one)], fails: true) != nil)
    }

    /// The last one is the register, which is behind the others.
    @Test(arguments: [UInt8(5), 0x0E]) func `A FeliCa tag has blocks of 16 bytes`(block: UInt8) async throws {
        let (one, two) = ([UInt8](repeating: 0x11, count: 16), [UInt8](repeating: 0x11, count: 15) + [0x22])
        let runs = RunCount()
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(
                .replay("slip@1:1ms"),
                near: "FeliCa Lite-S",
                app: PassWriter.app,
                invariants: [.memoryIntact]
            ) { field in
                let isFirst = runs.beginsFirst()
                return try await Blocks(.iso18092, [(block, isFirst ? one : two)], fails: false).scan(field)
            }
        }
        func text(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined(separator: " ") }
        #expect(
            failure?.finding.hasSuffix(
                ": block \(block) holds \(text(two)) and not \(text(one)), and the flow ended as if all were well"
            ) == true,
            "\(failure?.finding ?? "passed")"
        )
    }

    @Test func `A tag that is not the flow's stays as it is`() async throws {
        let failure = try await Self.failure { field, isFirst -> String in
            if !isFirst { try await field.swap(for: "NTAG215") }
            return try await Blocks(.iso14443, [(20, Self.one)], fails: !isFirst).scan(field)
        }
        #expect(failure?.finding.hasSuffix(" was written, and is not the tag of the flow") == true)
    }

    @Test func `Tags that the flow brings are its own in each run, also beside a second tag`() async throws {
        let failure = try await `What is checked after a run`.failure([.losses, .secondTags]) { field in
            try await field.swap(for: .product("NTAG215", holding: .uri("https://example.com/swapped")))
            try await Patient.writeOrLimit("https://example.com/new/and/longer", field)
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `What goes wrong with a tag that the flow brings is found`() async throws {
        let failure = try await `What is checked after a run`.failure(.badAnswers, invariants: [.memoryIntact]) {
            field -> String in
            try await field.swap(for: "NTAG215")
            return try await PageWriter(CorrectClient.message, bug: .ignoresNAK).scan(field)
        }
        #expect(
            failure?.finding.hasSuffix(", and the flow ended as if all were well") == true,
            "\(failure?.description ?? "passed")"
        )
    }

    @Test func `What was written on one tag is checked, though nothing is written on the next`() async throws {
        let report = try await explore(
            .replay("flip@1"),
            near: `What is checked after a run`.link,
            invariants: [.noMessageLost, .memoryIntact]
        ) { field in
            _ = try await field.make(.product("NTAG215", holding: .uri("https://example.com/other")))
            try await Patient.writeOrLimit("https://example.com/new/and/longer", field)
        }
        #expect(report.unchecked.isEmpty, "\(report)")
    }

    @Test func `What a flow writes and takes back is checked`() async throws {
        let zeros = [UInt8](repeating: 0, count: 4)
        let report = try await explore(.replay("flip@1"), near: "NTAG215", invariants: [.memoryIntact]) { field in
            _ = try await Blocks(.iso14443, [(20, Self.one), (20, zeros)], fails: false).scan(field)
        }
        #expect(report.unchecked.isEmpty, "\(report)")
    }

    @Test(arguments: ["thrown", "told by the app", "on the sheet"])
    func `A flow that says in any way that it failed may leave what it writes in between`(way: String) async throws {
        let (one, two): ([(number: UInt8, bytes: [UInt8])], [(number: UInt8, bytes: [UInt8])]) = (
            [(20, Self.one)], [(20, Self.two)]
        )
        let failure = try await Self.failure { field, isFirst -> Bool in
            if isFirst {
                _ = try await Blocks(.iso14443, two + one, fails: false).scan(field)
                return true
            }
            _ = try? await Blocks(.iso14443, two, fails: way == "on the sheet").scan(field)
            if way == "told by the app" { field.showedError("It did not work.") }
            if way == "thrown" { throw CocoaError(.featureUnsupported) }
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `A flow that the person cancels may leave what it writes in between, and throw nothing`() async throws {
        let failure = try await `What is checked after a run`.failure(
            .cancels,
            near: "NTAG215",
            invariants: [.memoryIntact]
        ) { field -> Bool in
            _ = try? await PageWriter(CorrectClient.message).scan(field)
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `A tear that never happens excuses nothing`() async throws {
        let failure = try await Self.failure(.replay("flip@1+tear@900:mixed")) { field, isFirst -> String in
            try await Blocks(.iso14443, [(20, isFirst ? Self.one : Self.two)], fails: !isFirst).scan(field)
        }
        #expect(
            failure?.finding.contains("page 20 holds 05 06 07 08, which is neither what it held before") == true,
            "\(failure?.description ?? "passed")"
        )
    }

    @Test func `A file that is deleted only with a fault, or only without one, is found`() async throws {
        for (isFirst, words) in [(true, "00 and not nothing"), (false, "nothing and not 00")] {
            let runs = RunCount()
            let failure = try await `What is checked after a run`.failure(
                .replay("slip@1:1ms"),
                near: "DESFire EV1 2K",
                invariants: [.memoryIntact]
            ) { field in try await FileDeleter(deletes: runs.beginsFirst() == isFirst).scan(field) }
            #expect(
                failure?.finding.hasSuffix(
                    ": application 1, file 2, byte 0 holds \(words), and the flow ended as if all were well"
                ) == true,
                "\(failure?.description ?? "passed")"
            )
        }
    }

    @Test(arguments: [
        ("generic Type 4", ": file E104, byte "), ("generic Type 3", ": service 0009, block "),
        ("NTAG 424 DNA", ": file 2, byte "),
        ("Topaz 512", ": byte "),
    ]) func `What was lost in a file, a service or a byte is named by that`(product: String, place: String)
        async throws
    {
        let failure = try await `What is checked after a run`.failure(
            .losses,
            near: .product(product, holding: .uri("https://example.com/old")),
            invariants: [.memoryIntact]
        ) { field in
            try await field.completion("write") { Writer("https://example.com/new/and/longer", bug: .lies).start($0) }
                .get()
        }
        #expect(failure?.finding.contains(place) == true, "\(failure?.finding ?? "passed")")
        #expect(failure?.finding.hasSuffix(", and the flow ended as if all were well") == true)
    }

    @Test func `A tag that can't be written any more is bricked, unless that is what the flow does`() async throws {
        // The last byte of the capability container says that the tag is read-only, and a bit that is set stays set.
        let lock: [(number: UInt8, bytes: [UInt8])] = [(3, [0, 0, 0, 0x0F])]
        for fails in [false, true] {
            let finding = try await Self.wholeFinding(of: .neverBricked, first: [], later: lock, fails: fails)
            #expect(finding?.hasSuffix(" can't be written any more") == true, "\(finding ?? "passed")")
        }
        #expect(try await Self.wholeFinding(of: .neverBricked, first: lock, later: lock, fails: false) == nil)
    }

    @Test func `A tag that no write mends is bricked`() async throws {
        // All bits of the first byte: that is no capability container.
        let finding = try await Self.wholeFinding(
            of: .neverBricked,
            first: [],
            later: [(3, [0xFF, 0, 0, 0])],
            fails: true
        )
        #expect(finding?.contains(" can't be read any more, nor written: ") == true, "\(finding ?? "passed")")
    }

    @Test func `A tag that a write mends hides no other one that none does`() async throws {
        // The length of the message is beyond the memory.
        let long: [(number: UInt8, bytes: [UInt8])] = [(4, [0x03, 0xFF, 0xFF, 0xFF])]
        let same: [(number: UInt8, bytes: [UInt8])] = [(3, [0, 0, 0, 0])]
        let broken: [(number: UInt8, bytes: [UInt8])] = [(3, [0xFF, 0, 0, 0])]
        for isBricked in [false, true] {
            let failure = try await Self.failure(of: .neverBricked) { field, isFirst -> String in
                _ = try await Blocks(.iso14443, isFirst ? [] : long, fails: false).scan(field)
                try await field.swap(for: "NTAG213")
                let second = isBricked ? broken : same
                return try await Blocks(.iso14443, isFirst ? [] : second, fails: false).scan(field)
            }
            let finding = failure?.finding
            #expect(finding?.hasPrefix("NTAG213") == (isBricked ? true : nil), "\(finding ?? "passed")")
        }
    }

    @Test func `A message that only a run with a fault writes is found, however the flow ends`() async throws {
        let link: [(number: UInt8, bytes: [UInt8])] = [
            (4, [0x03, 0x06, 0xD1, 0x01]), (5, [0x02, 0x55, 0x00, 0x61]), (6, [0xFE, 0, 0, 0]),
        ]
        let done = try await Self.wholeFinding(of: .noMessageLost, first: [], later: link, fails: false)
        #expect(done?.hasSuffix(" holds URI a, and the flow ended as if all were well") == true, "\(done ?? "passed")")
        let failed = try await Self.wholeFinding(of: .noMessageLost, first: [], later: link, fails: true)
        #expect(
            failed?.hasSuffix(" holds URI a, which is neither the old message nor the new one") == true,
            "\(failed ?? "passed")"
        )
        #expect(try await Self.wholeFinding(of: .noMessageLost, first: link, later: [], fails: true) == nil)
    }

    @Test func `A tag with nothing that can be read any more has lost its message, however the flow ends`()
        async throws
    {
        // The length of the message is beyond the memory.
        let long: [(number: UInt8, bytes: [UInt8])] = [(4, [0x03, 0xFF, 0xFF, 0xFF])]
        for (fails, words) in [
            (false, "and the flow ended as if all were well"),
            (true, "which is neither the old message nor the new one"),
        ] {
            let finding = try await Self.wholeFinding(of: .noMessageLost, first: [], later: long, fails: fails)
            #expect(
                finding?.hasSuffix(" holds nothing that can be read, \(words)") == true,
                "\(finding ?? "passed")"
            )
        }
    }

    @Test func `What can't be copied, and what was not written, is not checked`() async throws {
        for (tag, reason) in [
            (AppletReader.card, "no tag's memory can be copied"), ("NTAG215", "no memory was written"),
        ] {
            let report = try await explore(.replay("flip@1"), near: tag, invariants: [.memoryIntact]) { field in
                _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            }
            #expect(report.unchecked.map(\.reason) == [reason])
        }
    }
}

/// Selects the NDEF application of a DESFire, and may delete its file.
private final class FileDeleter: TagClient, @unchecked Sendable {
    private let deletes: Bool

    init(deletes: Bool) {
        self.deletes = deletes
        super.init(.iso14443, bug: .none)
    }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        let commands: [[UInt8]] = [[0x5A, 1, 0, 0]] + (deletes ? [[0xDF, 2]] : [])
        for command in commands {
            let answer = try await tag.sendMiFareCommand(commandPacket: Data(command))
            if answer != Data([0]) { throw Failure.refused }
        }
        return "done"
    }
}

/// Counts the runs of a flow, of which only the first has no fault.
private final class RunCount: Sendable {
    private let count = Locked(0)

    /// Notes that a run begins. Returns whether it is the first.
    func beginsFirst() -> Bool {
        count.withLock { count in
            count += 1
            return count == 1
        }
    }
}
