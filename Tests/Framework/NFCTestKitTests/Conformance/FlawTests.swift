// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// A reader with one flaw fails in the matching scenario, with a message that explains the flaw.
@Suite(.timeLimit(.minutes(5))) struct `A faulty reader` {
    /// A flaw, and the result that the conformance suite must report.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var scenario: String
        var words: String
        var flaw: FaultyReader.Flaw
        var patience: Duration

        init(
            _ flaw: FaultyReader.Flaw,
            _ name: String,
            in scenario: String,
            _ words: String,
            patience: Duration = .seconds(20)
        ) {
            self.patience = patience
            self.flaw = flaw
            testDescription = "\(name), in \(scenario)"
            self.scenario = scenario
            self.words = words
        }
    }

    private static let one = Array("example.com/one".utf8)
    private static let two = Array("example.com/two".utf8)
    private static let manyA = [UInt8](repeating: 0x61, count: 8)
    private static let manyB = [UInt8](repeating: 0x62, count: 8)
    private static let inventory: @Sendable (FaultyReader.Exchange) -> Bool = {
        $0.technology == .nfcV && $0.request.count > 1 && $0.request[1] == 0x01
    }

    @Test(arguments: commands) func `An answer to an app's own command is not taken for granted`(
        flawed: Case
    ) async throws {
        try await Self.expectFailure(of: flawed)
    }

    @Test(arguments: identification + contents + losses)
    func `Each flaw is found`(flawed: Case) async throws {
        try await Self.expectFailure(of: flawed)
    }

    @Test(
        arguments: [
            (.nfcF(idm: [4, 1, 2, 3, 4, 5, 6, 7], pmm: [UInt8](repeating: 0, count: 8), systemCode: 0x12FC), "nfcF."),
            (.nfcA(atqa: 0x0044, sak: 0x00, uid: [4, 1, 2, 3, 4, 5, 7]), "[4, 1, 2, 3, 4, 5, 7]."),
        ] as [(DiscoveredTag.Identity, String)]
    ) func `A reader that reports a tag as another kind fails, and the failure names that kind`(
        identity: DiscoveredTag.Identity,
        words: String
    ) async throws {
        let field = VirtualField()
        let setup = ReaderSetup(name: ".lying", field: field) {
            NFCEnvironment(reader: .discovering(LyingReader(field, identity)))
        }
        let scenario = try #require(ReaderConformance.scenarios.first { $0.name.hasPrefix("Type 2: is found,") })
        let failure = await #expect(throws: ConformanceFailure.self) { try await scenario.run(in: setup) }
        #expect(failure?.description.hasSuffix(words) == true, "\(failure?.description ?? "none")")
    }

    static func expectFailure(of flawed: Case) async throws {
        let setup = ReaderSetup.faulty(flawed.flaw, patience: flawed.patience)
        let scenario = try #require(ReaderConformance.scenarios.first { $0.name == flawed.scenario })
        let failure = await #expect(throws: ConformanceFailure.self) { try await scenario.run(in: setup) }
        #expect(failure?.description.contains(flawed.words) == true, "\(failure?.description ?? "none")")
        #expect(setup.field.tags.isEmpty, "The field is left as it was.")
    }

    private static let identification = [
        Case(
            .answer(to: inventory) { $0[2] ^= 1 },
            "A UID is misread",
            in: "Type 5: is found, with status and capacity",
            "Its UID was read as [224, 4, 1, 16, 1, 2, 3, 5]."
        ),
        Case(
            .answer(to: inventory) { $0[2] ^= 1 },
            "A UID is misread",
            in: "Type 5: comes when the session waits already",
            "Its UID was read as [224, 4, 1, 16, 1, 2, 3, 5]."
        ),
        Case(
            .answer(to: { inventory($0) && $0.look > 1 }) { $0[2] ^= 1 },
            "A UID changes",
            in: "Type 5: is found again, and another one after it",
            "The same tag has another UID."
        ),
        Case(
            .answer(to: inventory) { $0[2] = 4 },
            "Tags are taken for each other",
            in: "Type 5: is found again, and another one after it",
            "Another tag has the UID of the first."
        ),
    ]

    private static let contents = [
        Case(
            .reads([0xE1, 0x10, 0x12, 0x00], as: [0xE1, 0x10, 0x12, 0x0F]),
            "A capability container is misread",
            in: "Type 2: is found, with status and capacity",
            "It can be written, and the reader says that it can't."
        ),
        Case(
            .reads([0xE1, 0x10, 0x12, 0x00], as: [0xE1, 0x10, 0x11, 0x00]),
            "A capability container is misread",
            in: "Type 2: is found, with status and capacity",
            "It holds 137 bytes, not "
        ),
        // With its own version, an NTAG213 would not be written behind its data.
        Case(
            .answer(to: { _ in true }) {
                $0.replace([0xE1, 0x10, 0x12, 0x00], with: [0xE1, 0x10, 0x14, 0x00])
                $0.replace([0x04, 0x02, 0x01, 0x00, 0x0F], with: [0x04, 0x02, 0x01, 0x00, 0x11])
            },
            "A capability container and a version are misread",
            in: "Type 2: is written, checked and read",
            "A message that does not fit ended in "
        ),
        Case(
            .reads(one, as: two, fromLook: 2),
            "What was read last is misread",
            in: "Type 4A: is written, checked and read",
            "20 bytes were written, and 20 others read."
        ),
        Case(
            .reads([0xE1, 0x10, 0x12, 0x0F], as: [0xE1, 0x10, 0x12, 0x00]),
            "A lock is not seen",
            in: "Type 2: is locked, and stays as it is",
            "It is locked, and the reader says that it can be written."
        ),
        // The last page of the lock bits is written, and answered with a refusal.
        Case(
            .answer(to: { $0.has([0xA2, 0x28]) }) { $0 = [0x00] },
            "A lock is reported as refused",
            in: "Type 2: is locked, and stays as it is",
            "It is locked, and that ended in update-failed."
        ),
        Case(
            .reads(one, as: two, fromLook: 2),
            "A locked tag is misread",
            in: "Type 4A: is locked, and stays as it is",
            "The message of a locked tag has changed."
        ),
        Case(
            .reads([0x00, 0x00, 0x00, 0x00], as: [0xE1, 0x10, 0x12, 0x00]),
            "A tag without a format is taken for another",
            in: "Type 2: says when it is not formatted",
            "It is not formatted, and that ended in no error."
        ),
        Case(
            .reads([0x69, 0x82], as: [0x90, 0x00]),
            "A refusal is taken for success",
            in: "DESFire: is locked, and stays as it is",
            "A lock that a key is needed for ended in no error."
        ),
    ]

    private static let gone = LinkError(.timeout, "Nothing came.")

    private static let losses = [
        Case(
            FaultyReader.Flaw { exchange, answer in
                guard exchange.look == 1, exchange.request.first == 0xA2, case .failure = answer else { return answer }
                return .failure(LinkError(.unsupported, "The chip does not send that."))
            },
            "A loss is reported as something else",
            in: "Type 2: is lost in mid-write, and not broken",
            "The tag was taken away, and that ended in unsupported."
        ),
        Case(
            .reads([0xE1, 0x10, 0x12, 0x00], as: [0x00, 0x00, 0x00, 0x00], fromLook: 2),
            "A tag that comes back is misread",
            in: "Type 2: is lost in mid-write, and not broken",
            "A tag that was lost in mid-write is broken."
        ),
        Case(
            .reads(manyA, as: manyB, fromLook: 2),
            "What is written at last is misread",
            in: "Type 2: is lost in mid-write, and not broken",
            "A tag that was lost in mid-write can't be written any more."
        ),
        Case(
            FaultyReader.Flaw(missesPresence: true) { exchange, answer in
                guard case .failure = answer, let last = exchange.lastAnswer else { return answer }
                return .success(last)
            },
            "Answers come from memory",
            in: "Type 5: is noticed when it leaves, though it is sent no command",
            "The reader did not notice that the tag has left.",
            patience: .seconds(5)
        ),
        Case(
            .error(gone) { $0.look > 1 },
            "A tag is found only once",
            in: "Type 2: is noticed when it leaves, though it is sent no command",
            "The reader did not find the tag.",
            patience: .seconds(5)
        ),
        Case(
            .error(gone) { $0.look > 1 },
            "A tag is found only once",
            in: "Type 2: is found again, and another one after it",
            "The reader did not find the tag.",
            patience: .seconds(5)
        ),
        Case(
            .error(gone) { $0.technology == .nfcF },
            "A technology has no answer",
            in: "Type 3: comes when the session waits already",
            "The reader did not find the tag.",
            patience: .seconds(5)
        ),
        Case(
            FaultyReader.Flaw(missesPresence: true) { exchange, answer in
                exchange.lastAnswer == nil ? answer : .failure(gone)
            },
            "A tag that is near is taken for gone",
            in: "Type 5: is noticed when it leaves, though it is sent no command",
            "The tag has left the field."
        ),
        Case(
            FaultyReader.Flaw(carrierError: LinkError(.readerUnavailable, "The reader is gone.")),
            "The field stays off",
            in: "Type 2: is found, with status and capacity",
            "The session ended: "
        ),
        Case(
            .error(LinkError(.frameTooLong, "No room.")) { $0.technology == .nfcV && !inventory($0) },
            "Commands fail",
            in: "Type 5: is found, with status and capacity",
            "No room."
        ),
    ]
}

extension `A faulty reader` {
    /// The answer to a command is wrong in one bit.
    private static func command(
        _ command: [UInt8],
        _ scenario: String,
        _ words: String,
        wrongFrom end: Int = 1
    ) -> Case {
        Case(
            .answer(to: { $0.has(command) }) { $0[$0.count - end] ^= 1 },
            "The answer to \(command) is misread",
            in: scenario,
            words
        )
    }

    private static let type2 = "Type 2: takes commands, and says no"
    private static let type3 = "Type 3: takes FeliCa commands"
    private static let type5 = "Type 5: takes ISO 15693 commands"
    /// The card has asked for more time, and is granted it.
    private static let isWaiting: @Sendable (FaultyReader.Exchange) -> Bool = { $0.request.first == 0xF2 }
    private static let uid: [UInt8] = [4, 3, 2, 1, 0x10, 1, 4, 0xE0]
    private static let idm: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]
    private static let block: [UInt8] = [1, 0x09, 0x00, 1, 0x80, 0x05]

    static let commands =
        ["Type 4A", "Type 4B"].flatMap { name in
            let short = "\(name): takes APDUs and gives status words"
            let long = "\(name): takes and gives APDUs of many blocks"
            return [
                command([0x00, 0xA4, 0x04, 0x00, 0x07], short, "SELECT was answered with ["),
                command([0x02, 0x12, 0x34], short, "A file that is not there was answered with [106, 131]."),
                command([0x00, 0x5F, 0x00, 0x00], short, "An unknown instruction was answered with [109, 1]."),
                command([0x00, 0xD6, 0x00, 0x10, 200], short, "UPDATE BINARY was answered with [144, 1]."),
                command([0x00, 0xB0, 0x00, 0x10, 200], short, "READ BINARY gave 202 bytes."),
                command([0x00, 0xA4, 0x04, 0x00, 0x07], long, "SELECT was answered with ["),
                Case(
                    .answer(to: isWaiting) { $0.replace([0x90, 0], with: [0x62, 0]) },
                    "A status is misread",
                    in: long,
                    "UPDATE BINARY was answered with [98, 0]."
                ),
                command([0x00, 0xB0, 0x00, 0x04, 0x00, 0x02, 0x58], long, "READ BINARY gave 602 bytes."),
            ]
        } + [
            command([0x60], type2, "GET VERSION gave [0, 4, 4, 2, 1, 0, 15, 2]."),
            command([0xA2, 0x06], type2, "WRITE was answered with [11]."),
            command([0x30, 0xF0], type2, "READ of no page was answered with [1]."),
            command([0x30, 0x06], type2, "READ gave [0, 2, 3, 4].", wrongFrom: 16),
            command([0x08] + idm + block, type3, "WRITE WITHOUT ENCRYPTION was answered with ["),
            command([0x06] + idm + block, type3, "READ WITHOUT ENCRYPTION was answered with ["),
            Case(
                .answer(to: { $0.has([1, 0x09, 0x00, 1, 0x80, 0x60]) }) { $0[10] = 0 },
                "A refusal is misread",
                in: type3,
                "A block that is not there was answered with [7, 2, 254, 1, 2, 3, 4, 5, 6, 0, "
            ),
            command([0x22, 0x21] + uid + [0x05], type5, "WRITE SINGLE BLOCK was answered with [1]."),
            command([0x22, 0x20] + uid + [0x05], type5, "READ SINGLE BLOCK was answered with [0, 1, 2, 3, 5]."),
            Case(
                .answer(to: { $0.has([0x22, 0x23]) }) { $0.removeLast() },
                "The last byte is lost",
                in: type5,
                "READ MULTIPLE BLOCKS gave 12 bytes."
            ),
            command([0x22, 0x23] + uid, type5, ", 1, 2, 3, 5, ", wrongFrom: 5),
            Case(
                .answer(to: { $0.has([0x22, 0x2B]) }) { $0[1] = 0x0B },
                "Flags are misread",
                in: type5,
                "GET SYSTEM INFORMATION was answered with [0, 11, "
            ),
            Case(
                .answer(to: { $0.has([0x22, 0x20] + uid + [0xF0]) }) { $0 = [0x00, 1, 2, 3, 4] },
                "A refusal is misread",
                in: type5,
                "A block that is not there was answered with [0, 1, 2, 3, 4]."
            ),
        ]
}

extension [UInt8] {
    func contains(_ bytes: [UInt8]) -> Bool { firstRange(of: bytes) != nil }

    mutating func replace(_ bytes: [UInt8], with others: [UInt8]) {
        if let range = firstRange(of: bytes) { replaceSubrange(range, with: others) }
    }
}
