// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Messages on tags of every technology: status, reading, writing and locking, and the codes of their errors.
@Suite(.timeLimit(.minutes(2))) struct NDEFTagTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var make: @Sendable () -> any VirtualTag

        init(_ name: String, _ make: @escaping @Sendable () -> any VirtualTag) {
            (testDescription, self.make) = (name, make)
        }
    }

    static let kinds = [
        Kind("Type 1") { VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 0x25])) },
        Kind("Type 2") { VirtualType2Tag(.ntag216) },
        Kind("Type 3") { TestTag.feliCa() },
        Kind("Type 4A") { TestTag.ndefCard() },
        Kind("Type 4A, mapping 3") { VirtualType4Tag(card: ApplicationCard([NDEFApplication(mapping: .version3)])) },
        Kind("Type 4B") {
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication()]),
                frontEnd: .nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x81, 0x71])
            )
        },
        Kind("Type 5") { VirtualType5Tag(.icodeSLIX2) },
        Kind("Type 5, two-byte addresses") { VirtualType5Tag(.st25dv64K) },
    ]

    @Test(arguments: kinds) func `Message: written, read again and locked once; then writing and locking are error 400`(
        _ kind: Kind
    ) async throws {
        try await withNDEF(kind.make()) { _, scene in
            let tag = scene.tag
            let (status, capacity) = try await tag.queryNDEFStatus()
            #expect(status == .readWrite && capacity > 100)
            #expect(await code { try await tag.readNDEF() } == 403)
            // 8 KB on a Type 5 tag take longer than the 20 seconds that a connection lasts.
            for size in [7, 100, min(capacity, 1000)] {
                let message = TestTag.message(size: size)
                #expect(message.length == size)
                try await tag.writeNDEF(message)
                let read = try await tag.readNDEF()
                #expect(read.records.first?.payload == message.records[0].payload && read.length == size)
            }
            try await tag.writeNDEF(TestTag.message())
            try await tag.writeLock()
            for _ in 0..<2 {
                #expect(await code { try await tag.writeLock() } == 400)
                #expect(await code { try await tag.writeNDEF(TestTag.message("https://example.com/b")) } == 400)
                #expect(try await tag.queryNDEFStatus().0 == .readOnly)
                #expect(try await tag.readNDEF().link == TestTag.link)
            }
            #expect(tag.isAvailable && scene.session.isReady)
        }
    }

    // MARK: Failures

    @Test func `Blank, damaged, unformatted and protected tags: NDEF status, and error codes of read, write and lock`()
        async throws
    {
        // The status and its capacity, then the codes of reading, writing a message of 26 bytes, and locking.
        let rows: [(String, any VirtualTag, NFCNDEFStatus, Int, [Int])] = [
            ("blank", TestTag.ntag213(message: []), .readWrite, 137, [403, 0, 0]),
            ("damaged message", TestTag.ntag213(message: bytes("d101c855")), .readWrite, 137, [102, 0, 0]),
            ("unformatted", TestTag.unformattedNTAG213(), .notSupported, 0, [102, 102, 102]),
            ("read by password", TestTag.protectedNTAG213(from: 3, reading: true), .notSupported, 0, [102, 102, 102]),
            ("written by password", TestTag.protectedNTAG213(from: 4), .readWrite, 137, [0, 401, 401]),
        ]
        for (name, virtual, status, capacity, codes) in rows {
            try await withNDEF(virtual) { _, scene in
                let tag = scene.tag
                let found = try await tag.queryNDEFStatus()
                #expect(found == (status, capacity), "\(name) \(found)")
                let errors = [
                    await readerError { try await tag.readNDEF() },
                    await readerError { try await tag.writeNDEF(TestTag.message()) },
                ]
                #expect(errors.map { $0?.errorCode ?? 0 } == Array(codes[..<2]), "\(name)")
                // A phone says so of a tag that is not formatted (Apple forum thread 740947), and clients compare it.
                for error in errors {
                    let isUnformatted = error?.localizedDescription == "Tag Not NDEF formatted"
                    #expect(isUnformatted == (status == .notSupported), "\(name)")
                }
                #expect(await code { try await tag.writeLock() } == codes[2], "\(name)")
                #expect(tag.isAvailable && scene.session.isReady)
            }
        }
    }

    @Test(arguments: [(137, 0), (138, 402), (250, 402)])
    func `Message size: as long as the capacity at most; a longer one is error 402 and writes nothing`(
        size: Int,
        expected: Int
    ) async throws {
        let ntag = TestTag.ntag213()
        let before = ntag.contents.memory
        try await withNDEF(ntag) { _, scene in
            #expect(await code { try await scene.tag.writeNDEF(TestTag.message(size: size)) } == expected)
            #expect((ntag.contents.memory == before) == (expected != 0))
            let read = try await scene.tag.readNDEF()
            #expect(read.length == (expected == 0 ? size : 26))
        }
    }

    @Test func `writeNDEF: error 3 for an empty message, 401 if the tag refuses; the tag keeps its message`()
        async throws
    {
        let ntag = TestTag.ntag213()
        let before = ntag.contents.memory
        try await withNDEF(ntag) { field, scene in
            let tag = scene.tag
            let unchanged = NFCNDEFPayload(format: .unchanged, type: Data(), identifier: Data(), payload: Data())
            for records in [[], [unchanged]] {
                #expect(await code { try await tag.writeNDEF(NFCNDEFMessage(records: records)) } == 3)
            }
            // The tag refuses the first write.
            field.tags.arm(FaultPlan([Fault(.refusal(0), at: .write(1))]))
            #expect(await code { try await tag.writeNDEF(TestTag.message("https://example.com/b")) } == 401)
            field.tags.arm(FaultPlan([Fault(.refusal(0), at: .write(1))]))
            #expect(await code { try await tag.writeLock() } == 401)
            field.tags.arm(FaultPlan())
            #expect(ntag.contents.memory == before)
            let status = try await tag.queryNDEFStatus()
            #expect(status == (.readWrite, 137) && tag.isAvailable)
        }
    }

    @Test func `writeNDEF: writes the message as it was at the call, although the app changes it afterwards`()
        async throws
    {
        try await withNDEF(TestTag.ntag213()) { _, scene in
            let (tag, message) = (scene.tag, TestTag.message("https://example.com/b"))
            let error: (any Error)? = await withCheckedContinuation { done in
                tag.writeNDEF(message) { done.resume(returning: $0) }
                message.records = []
            }
            let read = try await tag.readNDEF()
            #expect(error == nil && read.link == "https://example.com/b")
        }
    }

    // MARK: Beside commands of the app's own

    @Test func `NTAG changed by raw commands of the app: the next NDEF calls use its new message, status and access`()
        async throws
    {
        try await withTags(TestTag.ntag213()) { _, scene in
            let tag = try scene.miFare
            #expect(try await tag.readNDEF().link == TestTag.link)
            // The first letters of the link are in page 7.
            #expect(try await tag.send("a207" + "HTTP".utf8.hexText()) == "0a")
            #expect(try await tag.readNDEF().link == "HTTPs://example.com/a")
            // A message without bytes, as it comes from the factory.
            #expect(try await tag.send("a205340300fe") == "0a")
            #expect(await code { try await tag.readNDEF() } == 403)
            #expect(try await tag.queryNDEFStatus() == (.readWrite, 137))
            try await tag.writeNDEF(TestTag.message("https://example.com/b"))
            // The capability container allows no more writing.
            #expect(try await tag.send("a203e110120f") == "0a")
            #expect(try await tag.queryNDEFStatus().0 == .readOnly)
            #expect(await code { try await tag.writeNDEF(TestTag.message()) } == 400)
            #expect(try await tag.readNDEF().link == "https://example.com/b")
        }
    }

    @Test func `ICODE, FeliCa and Type 4 tags changed by raw commands of the app: readNDEF returns the new message`()
        async throws
    {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { _, scene in
            let (tag, empty) = (try scene.iso15693, Data(bytes("0300fe00")))
            try await tag.writeNDEF(TestTag.message())
            #expect(try await tag.readNDEF().link == TestTag.link)
            try await tag.writeSingleBlock(requestFlags: .highDataRate, blockNumber: 1, dataBlock: empty)
            #expect(await code { try await tag.readNDEF() } == 403)
        }
        try await withTags(TestTag.feliCa(), app: .app(systems: ["12FC"]), polling: .iso18092) { _, scene in
            let (tag, list) = (try scene.feliCa, [Data([0x80, 0x01])])
            try await tag.writeNDEF(TestTag.message())
            #expect(try await tag.readNDEF().link == TestTag.link)
            var block = try await tag.readWithoutEncryption(serviceCodeList: [Data([0x0B, 0])], blockList: list).2[0]
            // The link begins behind the record's header of three bytes, its type, and the code of no abbreviation.
            block[5] = UInt8(ascii: "E")
            let services = [Data([0x09, 0])]
            _ = try await tag.writeWithoutEncryption(serviceCodeList: services, blockList: list, blockData: [block])
            #expect(try await tag.readNDEF().link == "https://Example.com/a")
        }
        try await withTags(TestTag.ndefCard(), app: .app(applications: [AID.ndef])) { _, scene in
            let tag = try scene.iso7816
            try await tag.writeNDEF(TestTag.message())
            // Another file is the current one, before and after the message is written.
            for _ in 0..<2 {
                #expect(try await tag.send("00a4000c02e103") == "9000")
                #expect(try await tag.send("00b000000f").count == 34)
                try await tag.writeNDEF(TestTag.message("https://example.com/b"))
                #expect(try await tag.readNDEF().link == "https://example.com/b")
            }
            // The length in the file of the message.
            #expect(try await tag.send("00a4000c02e104") == "9000")
            #expect(try await tag.send("00d60000020000") == "9000")
            #expect(await code { try await tag.readNDEF() } == 403)
        }
    }
}
