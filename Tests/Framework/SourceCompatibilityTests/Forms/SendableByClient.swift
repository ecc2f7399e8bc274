// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A client that declares its own Sendable conformances.

extension NFCVASResponse: @unchecked @retroactive Sendable {}
extension NFCISO7816APDU: @unchecked @retroactive Sendable {}
extension NFCISO7816ResponseAPDU: @unchecked @retroactive Sendable {}
extension NFCTag: @unchecked @retroactive Sendable {}
extension NFCTagReaderSession.Configuration: @unchecked @retroactive Sendable {}

struct Passes: Sendable {
    var responses: [NFCVASResponse] = []
    var command: NFCISO7816APDU?
    var answer: NFCISO7816ResponseAPDU?
    var tag: NFCTag?
    var configuration: NFCTagReaderSession.Configuration?
}
