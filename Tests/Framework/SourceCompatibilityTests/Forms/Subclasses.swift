// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A client's own session subclasses need no repeated declarations.

class ScanSession: NFCTagReaderSession {}

class MessageSession: NFCNDEFReaderSession {
    var purpose = ""

    override func begin() {
        alertMessage = purpose
        super.begin()
    }
}

class PassSession: NFCVASReaderSession {}
final class PaymentSession: NFCPaymentTagReaderSession {}
class KeySession: CardSession {}
