// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// Spellings of the first years, which are deprecated and still in use.

@available(*, deprecated)
struct OldSpellings {
    var flags: RequestFlag = [.RequestFlagHighDataRate, .RequestFlagAddress]
    var request: PollingRequestCode = .PollingRequestCodeSystemCode
    var slots: PollingTimeSlot = .PollingTimeSlotMax1
    var encryption: EncryptionId = .aes
    var mode: VASMode = .VASModeNormal
    var status: VASErrorCode = .VASErrorCodeSuccess

    func lock(_ tag: NFCISO15693Tag, done: @escaping (Error?) -> Void) {
        tag.lockDFSID(requestFlags: flags) { error in done(error) }
    }

    func info(_ tag: NFCISO15693Tag, done: @escaping (Int) -> Void) {
        tag.getSystemInfo(requestFlags: [.highDataRate]) {
            (dsfid: Int, afi: Int, blockSize: Int, blockCount: Int, icReference: Int, error: Error?) in
            done(blockCount)
        }
    }

    func text() -> NFCNDEFPayload? {
        NFCNDEFPayload.wellKnowTypeTextPayload(string: "Hello", locale: Locale(identifier: "en"))
    }
}
