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
        ScriptedTag.iso7816Target, ScriptedTag.desfireTarget, ScriptedTag.feliCaTarget, ScriptedTag.vicinityTarget,
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
    func `Command forms: each ends once, on the session's queue, with the tag's error`(
        target: TagTarget,
        counts: (closures: Int, asynchronous: Int)
    ) async {
        let script = [String](repeating: "lost", count: 100)
        let (fixture, log) = (ScriptedTag(target, script), CallLog())
        fixture.queue.suspend()
        await Self.call(fixture.tag, log, closures: true)
        #expect(log.count == 0)
        fixture.queue.resume()
        fixture.queue.sync {}
        let (asynchronous, asyncLog) = (ScriptedTag(target, script), CallLog())
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

    @Test(arguments: targets) func `Command forms: each ends where the answer is nonsense`(target: TagTarget) async {
        for answer in ["", "00", "01", "ff", String(repeating: "00", count: 9), String(repeating: "07", count: 40)] {
            let fixture = ScriptedTag(target, [String](repeating: answer, count: 200))
            let log = CallLog()
            await Self.call(fixture.tag, log, closures: false)
            let count = log.count
            await Self.call(fixture.tag, log, closures: true)
            for _ in 0..<3 { fixture.queue.sync {} }
            #expect(count > 0 && log.count > count)
        }
    }

    // MARK: Values in the forms with a Result

    /// A tag that answers once, and what an app makes of the answer.
    final class Script: Sendable {
        let fixture: ScriptedTag
        private let values = Locked<[String]>([])

        init(_ target: TagTarget, _ answer: String) { fixture = ScriptedTag(target, [answer]) }

        /// A handler that keeps the value in words, or the code of the error.
        func keep<Value>(_ words: @escaping @Sendable (Value) -> String) -> @Sendable (Result<Value, any Error>) -> Void
        {
            { [values] result in
                let text =
                    switch result {
                    case .success(let value): words(value)
                    case .failure(let error): "error \(code(of: error))"
                    }
                values.withLock { $0.append(text) }
            }
        }

        var words: [String] {
            fixture.queue.sync {}
            return values.withLock { $0 }
        }
    }

    typealias Row<Tag> = (answer: String, result: String, call: @Sendable (Tag, Script) -> Void)

    static let f = NFCISO15693RequestFlag.highDataRate
    static let two = NSRange(location: 0, length: 2)
    static let m = Data([1])

    // The forms whose values are put together. What the others give is what the completion handler gets.
    static let iso15693: [Row<any NFCISO15693Tag>] = [
        ("000102", "01 02", { $0.readMultipleBlocks(requestFlags: f, blockRange: two, resultHandler: $1.keep(words)) }),
        (
            "040102", "4 0102",
            { $0.authenticate(requestFlags: f, cryptoSuiteIdentifier: 0, message: m, resultHandler: $1.keep(words)) }
        ),
        (
            "040102", "4 0102",
            { $0.keyUpdate(requestFlags: f, keyIdentifier: 0, message: m, resultHandler: $1.keep(words)) }
        ),
        ("040102", "4 0102", { $0.readBuffer(requestFlags: f, resultHandler: $1.keep(words)) }),
        (
            "040102", "4 0102",
            { $0.sendRequest(requestFlags: 2, commandCode: 0xA0, data: m, resultHandler: $1.keep(words)) }
        ),
        (
            "000100", "1 0",
            {
                $0.extendedGetMultipleBlockSecurityStatus(
                    requestFlags: f,
                    blockRange: two,
                    resultHandler: $1.keep(words)
                )
            }
        ),
        (
            "000fe00701020304050601021b0304", "e007010203040506 1 2 4 28 4",
            { $0.getSystemInfo(requestFlags: f, resultHandler: $1.keep(words)) }
        ),
    ]

    @Test func `ISO 15693 results: each form with a Result has the values of the answer, or the tag's error`() throws {
        for (index, row) in Self.iso15693.enumerated() {
            for (answer, result) in [(row.answer, row.result), ("0110", "error 102")] {
                let script = Script(ScriptedTag.vicinityTarget, answer)
                row.call(try script.fixture.tag.iso15693, script)
                #expect(script.words == [result], "\(index)")
            }
        }
    }

    static let nodes = [Data([0x0B, 0])]
    static let list = [Data([0x80, 0])]
    static let nines = String(repeating: "09", count: 16)

    static let feliCa: [Row<any NFCFeliCaTag>] = [
        (
            "01|0102030405060708fe00", "0102030405060708 fe00",
            {
                $0.polling(
                    systemCode: Data([0xFE, 0]),
                    requestCode: .systemCode,
                    timeSlot: .max1,
                    resultHandler: $1.keep { words($0.manufactureParameter) + " " + words($0.requestData ?? Data()) }
                )
            }
        ),
        ("03|010506", "0506", { $0.requestService(nodeCodeList: nodes, resultHandler: $1.keep(words)) }),
        ("05|02", "2", { $0.requestResponse(resultHandler: $1.keep { "\($0)" }) }),
        (
            "07|000701\(nines)", "0 7 \(nines)",
            {
                $0.readWithoutEncryption(
                    serviceCodeList: nodes,
                    blockList: list,
                    resultHandler: $1.keep { words($0.0) + " " + words($0.1) }
                )
            }
        ),
        (
            "09|0107", "1 7",
            {
                $0.writeWithoutEncryption(
                    serviceCodeList: nodes,
                    blockList: list,
                    blockData: [Data(count: 16)],
                    resultHandler: $1.keep(words)
                )
            }
        ),
        ("0d|02000312fc", "0003 12fc", { $0.requestSystemCode(resultHandler: $1.keep(words)) }),
        (
            "33|0007410101020304", "0 7 65 0102 0304",
            {
                $0.requestServiceV2(
                    nodeCodeList: nodes,
                    resultHandler: $1.keep {
                        let keys = [$0.nodeKeyVersionListAES ?? [], $0.nodeKeyVersionListDES ?? []].map { words($0) }
                        let cipher = $0.encryptionIdentifier.rawValue
                        return "\($0.statusFlag1) \($0.statusFlag2) \(cipher) " + keys.joined(separator: " ")
                    }
                )
            }
        ),
        (
            "3d|0007000105010203", "0 7 0105 0203",
            {
                $0.requestSpecificationVersion(
                    resultHandler: $1.keep {
                        let versions = [$0.basicVersion ?? Data(), $0.optionVersion ?? Data()]
                        return "\($0.statusFlag1) \($0.statusFlag2) " + words(versions)
                    }
                )
            }
        ),
        ("3f|0107", "1 7", { $0.resetMode(resultHandler: $1.keep(words)) }),
        ("05|02", "0b05012e4ce19c5b123402", { $0.sendFeliCaCommand(commandPacket: m, resultHandler: $1.keep(words)) }),
    ]

    @Test func `FeliCa results: each form with a Result has the values of the answer, or the card's error`() throws {
        for row in Self.feliCa {
            for (answer, result) in [(row.answer, row.result), ("lost", "error 100")] {
                let script = Script(ScriptedTag.feliCaTarget, answer)
                row.call(try script.fixture.tag.feliCa, script)
                #expect(script.words == [result], "\(row.result)")
            }
        }
    }

    @Test func `Card results: the payload and the status word, in each form`() async throws {
        let read = try #require(NFCISO7816APDU(data: Data(bytes("00b0000000"))))
        let words: @Sendable (NFCISO7816ResponseAPDU) -> String = {
            // A payload of no bytes is nil in an async call, and empty in a callback.
            ($0.payload?.hexText() ?? "nil") + " " + [$0.statusWord1, $0.statusWord2].hexText()
        }
        for (answer, result) in [("cafe91af", "cafe 91af"), ("6a82", "nil 6a82"), ("6105", "nil 6105")] {
            let (card, desfire) = (
                Script(ScriptedTag.iso7816Target, answer), Script(ScriptedTag.desfireTarget, answer)
            )
            try card.fixture.tag.iso7816.sendCommand(apdu: read, resultHandler: card.keep(words))
            try desfire.fixture.tag.miFare.sendMiFareISO7816Command(read, resultHandler: desfire.keep(words))
            let called = [result.replacing("nil", with: "")]
            #expect(card.words == called)
            #expect(desfire.words == called)
            let (channel, tag) = try ScriptedTag.iso7816(answer, answer)
            let response: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: read)
            #expect(words(response) == result)
            #expect(try await tag.send("00b0000000") == answer && channel.sent == ["00b0000000", "00b0000000"])
            let (_, other) = try ScriptedTag.miFare(ScriptedTag.desfireTarget, answer, answer)
            let wrapped: NFCISO7816ResponseAPDU = try await other.sendMiFareISO7816Command(read)
            #expect(words(wrapped) == result)
            #expect(try await other.sendAPDU("00b0000000") == answer)
        }
        let miFare = Script(ScriptedTag.ultralightTarget, "0102")
        try miFare.fixture.tag.miFare.sendMiFareCommand(
            commandPacket: Data([0x30, 3]),
            resultHandler: miFare.keep { $0.hexText() }
        )
        #expect(miFare.words == ["0102"])
    }

    // MARK: Values beside an error

    @Test func `Failed FeliCa command: the values beside the error are -1 or empty`() throws {
        let values = Locked<[String]>([])
        let note: @Sendable (String, (any Error)?) -> Void = { text, error in
            values.withLock { $0.append(error == nil ? "no error" : text) }
        }
        let (nodes, list) = (Self.nodes, Self.list)
        let card = ScriptedTag(ScriptedTag.feliCaTarget)
        let tag = try card.tag.feliCa
        tag.requestService(nodeCodeList: nodes, completionHandler: { note("\($0.count)", $1) })
        tag.requestResponse(completionHandler: { note("\($0)", $1) })
        tag.readWithoutEncryption(
            serviceCodeList: nodes,
            blockList: list,
            completionHandler: { note("\($0) \($1) \($2.count)", $3) }
        )
        tag.writeWithoutEncryption(
            serviceCodeList: nodes,
            blockList: list,
            blockData: [Data(count: 16)],
            completionHandler: { note("\($0) \($1)", $2) }
        )
        tag.requestSystemCode(completionHandler: { note("\($0.count)", $1) })
        tag.requestServiceV2(
            nodeCodeList: nodes,
            completionHandler: { note("\($0) \($1) \($3.count) \($4.count)", $5) }
        )
        tag.requestSpecificationVersion(completionHandler: { note("\($0) \($1) \($2.count) \($3.count)", $4) })
        tag.resetMode(completionHandler: { note("\($0) \($1)", $2) })
        tag.sendFeliCaCommand(commandPacket: Data([4]), completionHandler: { note("\($0.count)", $1) })
        card.queue.sync {}
        #expect(
            values.withLock { $0 }
                == ["0", "-1", "-1 -1 0", "-1 -1", "0", "-1 -1 0 0", "-1 -1 0 0", "-1 -1", "0"]
        )
    }

    @Test func `Old spellings: system information without a UID, and Lock DSFID, do the same`() async throws {
        let fixture = ScriptedTag(ScriptedTag.vicinityTarget, ["000f06050403020107e001021b0309", "00"])
        let tag = try fixture.tag.iso15693
        let fields: [Int] = await handedOver { oldSystemInfo(of: tag, $0) }
        let isLocked: Bool = await handedOver { oldLockDSFID(of: tag, $0) }
        #expect(fields == [1, 2, 4, 28, 9] && isLocked && fixture.channel.sent == ["222b|", "222a|"])
    }
}

// The values of the forms with a Result, in words.
@Sendable private func words(_ data: Data) -> String { data.hexText() }
@Sendable private func words(_ list: [Data]) -> String { list.map { $0.hexText() }.joined(separator: " ") }
@Sendable private func words(_ flag: NFCFeliCaStatusFlag) -> String { "\(flag.statusFlag1) \(flag.statusFlag2)" }
@Sendable private func words(_ answer: (NFCISO15693ResponseFlag, Data)) -> String { text(answer) }
@Sendable private func words(_ answer: (NFCISO15693ResponseFlag, Data?)) -> String { text(answer) }
@Sendable private func words(_ status: NFCISO15693MultipleBlockSecurityStatus) -> String { text(status) }
@Sendable private func words(_ info: NFCISO15693SystemInfo) -> String { text(info) }
