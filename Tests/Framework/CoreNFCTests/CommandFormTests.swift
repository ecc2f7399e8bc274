// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import TagLink
import TagProtocols
import Testing

@testable import SourceCompatibilitySwift6  // the calls of a client in every form are internal, as in an app

/// The forms of each command: with a completion handler, with a `Result`, and asynchronous.
@Suite(.timeLimit(.minutes(1))) struct CommandFormTests {
    static let targets = [
        ScriptedTag.iso7816, ScriptedTag.desfire, ScriptedTag.feliCa, ScriptedTag.vicinity,
    ]

    /// Calls every command of a tag with closures, or asynchronously.
    static func call(_ tag: NFCTag, _ log: CallLog, closures: Bool) async {
        switch (tag, closures) {
        case (.iso7816(let tag), true): callISO7816Closures(tag, log)
        case (.iso7816(let tag), false): await callISO7816Async(tag, log)
        case (.miFare(let tag), true): callMiFareClosures(tag, log)
        case (.miFare(let tag), false): await callMiFareAsync(tag, log)
        case (.feliCa(let tag), true): callFeliCaClosures(tag, log)
        case (.feliCa(let tag), false): await callFeliCaAsync(tag, log)
        case (.iso15693(let tag), true): callISO15693Closures(tag, log)
        case (.iso15693(let tag), false): await callISO15693Async(tag, log)
        }
    }

    /// What a tag's commands send. Two forms of one command follow each other and count once.
    static func sent(_ fixture: ScriptedTag) -> [String] {
        fixture.channel.sent.reduce(into: []) { sent, packet in if packet != sent.last { sent.append(packet) } }
    }

    @Test(arguments: zip(targets, [(2, 2), (4, 3), (20, 10), (34, 30)]))
    func `Closure and async forms of a command: complete once on the session's queue, with 100 if the tag is lost`(
        identity: DiscoveredTag.Identity,
        counts: (closures: Int, asynchronous: Int)
    ) async throws {
        let script = [String](repeating: "lost", count: 100)
        let (fixture, log) = (try await ScriptedTag(identity, script), CallLog())
        fixture.queue.suspend()
        await Self.call(fixture.tag, log, closures: true)
        #expect(log.count == 0)
        fixture.queue.resume()
        await fixture.settle()
        let (asynchronous, asyncLog) = (try await ScriptedTag(identity, script), CallLog())
        await Self.call(asynchronous.tag, asyncLog, closures: false)
        #expect(log.count == counts.closures && log.calls.count == counts.closures)
        #expect(asyncLog.count == counts.asynchronous)
        for call in Array(log.calls.keys) + Array(asyncLog.calls.keys) {
            // Stay Quiet and Challenge end when they are sent.
            let isSilent = call.hasPrefix("stayQuiet") || call.hasPrefix("challenge")
            #expect(call.hasSuffix(isSilent ? " 0" : " 100"), "\(call)")
        }
        #expect(Self.sent(fixture) == Self.sent(asynchronous))
    }

    // MARK: Values in the forms with a Result

    /// What an app gets from a form with a `Result`: the value in words, or the code of the error.
    final class Results: Sendable {
        private let values = Locked<[String]>([])

        func keep<Value>(_ result: Result<Value, any Error>) {
            let words =
                switch result {
                case .success(let value): text(value)
                case .failure(let error): "error \(code(of: error))"
                }
            values.withLock { $0.append(words) }
        }

        func all(of fixture: ScriptedTag) async -> [String] {
            await fixture.settle()
            return values.withLock { $0 }
        }
    }

    typealias Row<Tag> = (answer: String, result: String, call: @Sendable (Tag, Results) -> Void)

    /// Each form gives the values of the answer, and the error of another answer.
    static func check<Tag>(
        _ rows: [Row<Tag>],
        _ identity: DiscoveredTag.Identity,
        failing: (answer: String, code: Int),
        _ kind: (NFCTag) throws -> Tag
    ) async throws {
        for row in rows {
            for (answer, result) in [(row.answer, row.result), (failing.answer, "error \(failing.code)")] {
                let (fixture, results) = (try await ScriptedTag(identity, [answer]), Results())
                row.call(try kind(fixture.tag), results)
                #expect(await results.all(of: fixture) == [result], "\(row.result)")
            }
        }
    }

    static let f = NFCISO15693RequestFlag.highDataRate
    static let two = NSRange(location: 0, length: 2)
    static let m = Data([1])

    // The forms whose values are put together. What the others give is what the completion handler gets.
    static let iso15693: [Row<any NFCISO15693Tag>] = [
        ("000102", "01 02", { $0.readMultipleBlocks(requestFlags: f, blockRange: two, resultHandler: $1.keep) }),
        (
            "040102", "4 0102",
            { $0.authenticate(requestFlags: f, cryptoSuiteIdentifier: 0, message: m, resultHandler: $1.keep) }
        ),
        ("040102", "4 0102", { $0.keyUpdate(requestFlags: f, keyIdentifier: 0, message: m, resultHandler: $1.keep) }),
        ("040102", "4 0102", { $0.readBuffer(requestFlags: f, resultHandler: $1.keep) }),
        ("040102", "4 0102", { $0.sendRequest(requestFlags: 2, commandCode: 0xA0, data: m, resultHandler: $1.keep) }),
        (
            "000100", "1 0",
            { $0.extendedGetMultipleBlockSecurityStatus(requestFlags: f, blockRange: two, resultHandler: $1.keep) }
        ),
        (
            "000fe00701020304050601021b0304", "e007010203040506 1 2 4 28 4",
            { $0.getSystemInfo(requestFlags: f, resultHandler: $1.keep) }
        ),
    ]

    static let nodes = [Data([0x0B, 0])]
    static let list = [Data([0x80, 0])]
    static let nines = String(repeating: "09", count: 16)

    static let feliCa: [Row<any NFCFeliCaTag>] = [
        (
            "01|0102030405060708fe00", "0102030405060708 fe00",
            {
                let system = Data([0xFE, 0])
                $0.polling(systemCode: system, requestCode: .systemCode, timeSlot: .max1, resultHandler: $1.keep)
            }
        ),
        ("03|010506", "0506", { $0.requestService(nodeCodeList: nodes, resultHandler: $1.keep) }),
        ("05|02", "2", { $0.requestResponse(resultHandler: $1.keep) }),
        (
            "07|000701\(nines)", "0 7 \(nines)",
            { $0.readWithoutEncryption(serviceCodeList: nodes, blockList: list, resultHandler: $1.keep) }
        ),
        (
            "09|0107", "1 7",
            {
                let data = [Data(count: 16)]
                $0.writeWithoutEncryption(
                    serviceCodeList: nodes,
                    blockList: list,
                    blockData: data,
                    resultHandler: $1.keep
                )
            }
        ),
        ("0d|02000312fc", "0003 12fc", { $0.requestSystemCode(resultHandler: $1.keep) }),
        (
            "33|0007410101020304", "0 7 65 0102 0304",
            { $0.requestServiceV2(nodeCodeList: nodes, resultHandler: $1.keep) }
        ),
        ("3d|0007000105010203", "0 7 0105 0203", { $0.requestSpecificationVersion(resultHandler: $1.keep) }),
        ("3f|0107", "1 7", { $0.resetMode(resultHandler: $1.keep) }),
        ("05|02", "0b05012e4ce19c5b123402", { $0.sendFeliCaCommand(commandPacket: m, resultHandler: $1.keep) }),
    ]

    @Test func `Result forms of commands: success has the values of the answer, failure the tag's error`() async throws
    {
        try await Self.check(Self.iso15693, ScriptedTag.vicinity, failing: ("0110", 102)) { try $0.iso15693 }
        try await Self.check(Self.feliCa, ScriptedTag.feliCa, failing: ("lost", 100)) { try $0.feliCa }
        let miFare: [Row<any NFCMiFareTag>] = [
            ("0102", "0102", { $0.sendMiFareCommand(commandPacket: Self.m, resultHandler: $1.keep) })
        ]
        try await Self.check(miFare, ScriptedTag.ultralight, failing: ("none", 100)) { try $0.miFare }
    }

    @Test func `ISO 7816 results: each form has payload and status word; an empty payload is nil in async forms`()
        async throws
    {
        let read = try #require(NFCISO7816APDU(data: Data(bytes("00b0000000"))))
        func words(_ response: NFCISO7816ResponseAPDU) -> String {
            "\(response.payload?.hexText() ?? "nil") \([response.statusWord1, response.statusWord2].hexText())"
        }
        for (answer, result) in [("cafe91af", "cafe 91af"), ("6a82", "nil 6a82"), ("6105", "nil 6105")] {
            let script = [answer, answer, answer]
            let card = try await ScriptedTag(ScriptedTag.iso7816, script)
            let desfire = try await ScriptedTag(ScriptedTag.desfire, script)
            let (tag, other) = (try card.tag.iso7816, try desfire.tag.miFare)
            let values = Locked<[String]>([])
            let keep: @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void = { result in
                // A payload of no bytes is nil in an async call, and empty in a callback.
                guard let response = try? result.get(), let payload = response.payload else { return }
                let status = [response.statusWord1, response.statusWord2].hexText()
                values.withLock { $0.append(payload.hexText() + status) }
            }
            tag.sendCommand(apdu: read, resultHandler: keep)
            other.sendMiFareISO7816Command(read, resultHandler: keep)
            for fixture in [card, desfire] { await fixture.settle() }
            #expect(values.withLock { $0 } == [answer, answer])
            #expect(words(try await tag.sendCommand(apdu: read)) == result)
            #expect(words(try await other.sendMiFareISO7816Command(read)) == result)
            #expect(try await tag.send("00b0000000") == answer)
            #expect(try await other.sendAPDU("00b0000000") == answer)
            #expect(card.channel.sent == [String](repeating: "00b0000000", count: 3))
        }
    }

    @Test func `Old spellings of getSystemInfo and lockDSFID: send the same commands as the new ones`() async throws {
        let fixture = try await ScriptedTag(ScriptedTag.vicinity, ["000f06050403020107e001021b0309", "00"])
        let tag = try fixture.tag.iso15693
        let fields: [Int] = await withCompletion { oldSystemInfo(of: tag, $0) }
        let isLocked: Bool = await withCompletion { oldLockDSFID(of: tag, $0) }
        #expect(fields == [1, 2, 4, 28, 9] && isLocked && fixture.channel.sent == ["222b|", "222a|"])
    }
}
