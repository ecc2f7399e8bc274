// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// An app with an actor that owns the connection, and typed throws.

enum VaultError: Error, Equatable {
    case notConnected
    case reader(NFCReaderError.Code)
    case refused(UInt16)
}

actor Vault {
    private var tag: (any NFCISO7816Tag)?
    private(set) var exchanges = 0

    func attach(_ session: NFCTagReaderSession, _ tag: any NFCISO7816Tag) async throws(VaultError) {
        do {
            try await session.connect(to: .iso7816(tag))
        } catch let error as NFCReaderError {
            throw .reader(error.code)
        } catch {
            throw .notConnected
        }
        self.tag = tag
    }

    func send(_ apdu: NFCISO7816APDU) async throws(VaultError) -> Data {
        guard let tag else { throw .notConnected }
        exchanges += 1
        do {
            let (data, sw1, sw2) = try await tag.sendCommand(apdu: apdu)
            let status = UInt16(sw1) << 8 | UInt16(sw2)
            if status != 0x9000 { throw VaultError.refused(status) }
            return data
        } catch let error as VaultError {
            throw error
        } catch let error as NFCReaderError {
            throw .reader(error.code)
        } catch {
            throw .notConnected
        }
    }
}
