// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import Testing

@testable import SourceCompatibilitySwift6

@Suite(.timeLimit(.minutes(5))) struct `Every command in every form` {
    static let identities: [TagIdentity] = [
        .iso7816(ISO7816Identity(initialSelectedAID: "A0", identifier: [1, 2, 3, 4])),
        .miFare(MiFareIdentity(family: .desfire, identifier: [4, 1, 2, 3, 4, 5, 6], takesISODEP: true)),
        .feliCa(FeliCaIdentity(systemCode: [0, 3], idm: ScriptedTag.idm)),
        .iso15693(ISO15693Identity(uid: ScriptedTag.uid)),
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

    @Test(arguments: identities) func `Each closure is called once, with the tag's error, on the session's queue`(
        identity: TagIdentity
    ) async {
        let fixture = ScriptedTag(identity, [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100))
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

    @Test(arguments: identities) func `Each asynchronous form ends, with the tag's error`(identity: TagIdentity) async {
        let fixture = ScriptedTag(identity, [Result<[UInt8], NFCReaderError>](repeating: .failure(.lost), count: 100))
        let log = CallLog()
        await Self.call(fixture.tag, log, closures: false)
        #expect(log.count > 1)
        for name in log.calls.keys {
            let isSilent = name.hasPrefix("stayQuiet") || name.hasPrefix("challenge")
            #expect(name.hasSuffix(isSilent ? " 0" : " 100"), "\(name)")
        }
    }

    @Test(arguments: identities) func `Each form ends when the answer is nonsense`(identity: TagIdentity) async {
        let answers: [[UInt8]] = [
            [], [0], [1], [0xFF], [UInt8](repeating: 0, count: 9), [UInt8](repeating: 7, count: 40),
        ]
        for answer in answers {
            let script = [Result<[UInt8], NFCReaderError>](repeating: .success(answer), count: 200)
            let fixture = ScriptedTag(identity, script)
            let log = CallLog()
            await Self.call(fixture.tag, log, closures: false)
            await Self.call(fixture.tag, log, closures: true)
            fixture.queue.sync {}
            #expect(log.count > 2)
        }
    }
}
