// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import TagLink
import TagProtocols
import Testing

@testable import SourceCompatibilitySwift6

@Suite(.timeLimit(.minutes(5))) struct `Every command in every form` {
    static let targets = [
        ScriptedTag.iso7816Target, ScriptedTag.miFareTarget(takesISODEP: true), ScriptedTag.feliCaTarget,
        ScriptedTag.vicinityTarget,
    ]

    /// Calls the forms with closures, then the asynchronous ones.
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

    @Test(arguments: targets) func `Each closure is called once, with the tag's error, on the session's queue`(
        target: TagTarget
    ) async {
        let fixture = ScriptedTag(target, [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100))
        fixture.queue.suspend()
        let log = CallLog()
        await Self.call(fixture.tag, log, closures: true)
        #expect(log.count == 0)
        fixture.queue.resume()
        fixture.queue.sync {}
        #expect(log.count > 1)
        for (name, count) in log.calls {
            #expect(count == 1, "\(name)")
            // Stay Quiet and Challenge end when they are sent.
            let isSilent = name.hasPrefix("stayQuiet") || name.hasPrefix("challenge")
            #expect(name.hasSuffix(isSilent ? " 0" : " 100"), "\(name)")
        }
    }

    /// What each command of the forms sends, in their order (ISO/IEC 15693-3, 10; FeliCa Card User's Manual, 4).
    static let exchanges: [[String]] = {
        let (uid, idm) = ("060504030201 07e0".replacingOccurrences(of: " ", with: ""), "0102030405060708")
        let feliCa = [
            "02|010f09", "04|", "06|010f09018000", "08|010f09018000" + String(repeating: "00", count: 16), "0c|",
            "32|010f09",
            "3c|0000", "3e|0000",
        ]
        let vicinity = [
            "02a007", "2223|0000", "2202|", "2220|01", "2221|0101020304", "2222|01", "2223|0000", "2224|000001020304",
            "2225|", "2226|", "2227|01", "2228|", "2229|01", "222a|", "222b|", "222c|0000", "222d|0000",
            "02a00701020304",
            "2230|a000", "2231|a00001020304", "2232|a000", "2233|00000000", "2234|0000000001020304", "2235|a001020304",
            "2236|a001020304", "0239a001020304", "223a|", "223c|00000000", "223d|00000000", "a0a0",
        ]
        return [
            ["00b0000000"], ["3000", "00b0000000"],
            ["0000030000"] + feliCa.map { $0.replacingOccurrences(of: "|", with: idm) } + ["01020304"],
            vicinity.map { $0.replacingOccurrences(of: "|", with: uid) },
        ]
    }()

    @Test(arguments: 0..<4, [true, false]) func `Each form sends what its command is`(index: Int, closures: Bool) async
    {
        let script = [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100)
        let fixture = ScriptedTag(Self.targets[index], script)
        await Self.call(fixture.tag, CallLog(), closures: closures)
        fixture.queue.sync {}
        // Two forms of one command follow each other.
        var sent: [String] = []
        for packet in fixture.channel.sent.map(\.bytes).map({ $0.hexText() }) where packet != sent.last {
            sent.append(packet)
        }
        #expect(sent == Self.exchanges[index])
    }

    /// The calls that a client's function makes, by the names that it logs.
    private static func names(in function: String) throws -> Set<String> {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("SourceCompatibilityTests/Swift6")
        for name in ["CallForms", "CallForms+ISO15693", "CallForms+ISO15693Async"] {
            let source = try String(contentsOf: folder.appendingPathComponent("\(name).swift"), encoding: .utf8)
            guard let start = source.range(of: "func \(function)("),
                let end = source.range(of: "\n}\n", range: start.upperBound..<source.endIndex)
            else { continue }
            let parts = source[start.upperBound..<end.lowerBound].components(separatedBy: "log.add(\"").dropFirst()
            return Set(parts.compactMap { $0.components(separatedBy: "\"").first })
        }
        return []
    }

    @Test(arguments: 0..<4) func `No closure is forgotten`(index: Int) throws {
        let function = ["callISO7816Closures", "callMiFareClosures", "callFeliCaClosures", "callISO15693Closures"][
            index
        ]
        let script = [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100)
        let fixture = ScriptedTag(Self.targets[index], script)
        let log = CallLog()
        switch fixture.tag {
        case .iso7816(let tag): callISO7816Closures(tag, log)
        case .miFare(let tag): callMiFareClosures(tag, log)
        case .feliCa(let tag): callFeliCaClosures(tag, log)
        case .iso15693(let tag): callISO15693Closures(tag, log)
        }
        fixture.queue.sync {}
        let names = try Self.names(in: function)
        #expect(names.count >= 2)
        // The code of the error comes last.
        let answered = log.calls.keys.map { $0.split(separator: " ").dropLast().joined(separator: " ") }
        #expect(Set(answered) == names)
    }

    @Test(arguments: targets) func `Each asynchronous form ends, with the tag's error`(target: TagTarget) async {
        let fixture = ScriptedTag(target, [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100))
        let log = CallLog()
        await Self.call(fixture.tag, log, closures: false)
        #expect(log.count > 1)
        for name in log.calls.keys {
            let isSilent = name.hasPrefix("stayQuiet") || name.hasPrefix("challenge")
            #expect(name.hasSuffix(isSilent ? " 0" : " 100"), "\(name)")
        }
    }

    @Test(arguments: targets) func `Each form ends when the answer is nonsense`(target: TagTarget) async {
        let answers: [[UInt8]] = [
            [], [0], [1], [0xFF], [UInt8](repeating: 0, count: 9), [UInt8](repeating: 7, count: 40),
        ]
        for answer in answers {
            let script = [Result<[UInt8], NFCReaderError>](repeating: .success(answer), count: 200)
            let fixture = ScriptedTag(target, script)
            let log = CallLog()
            await Self.call(fixture.tag, log, closures: false)
            await Self.call(fixture.tag, log, closures: true)
            fixture.queue.sync {}
            #expect(log.count > 2)
        }
    }
}
