// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension PN532Reader {
    /// Which of Core NFC's calls a PN532 serves, and why not the others.
    public static var calls: [ServedCall] {
        let frames = "The host's own frames go through InCommunicateThru."
        return [
            ServedCall(
                name: "NFCNDEFTag.readNDEF, writeNDEF",
                support: .yes,
                reason: "For tags that the calls below reach, and Type 1 tags."
            ),
            ServedCall(
                name: "NFCISO7816Tag.sendCommand",
                support: .yes,
                reason: "The host speaks ISO-DEP with cards of NFC-A and NFC-B; extended APDUs go in chained blocks."
            ),
            ServedCall(name: "NFCMiFareTag.sendMiFareCommand", support: .yes, reason: frames),
            ServedCall(name: "NFCFeliCaTag's commands", support: .yes, reason: frames),
            ServedCall(
                name: "NFCISO15693Tag's commands",
                support: .no,
                reason: "The chip does not speak ISO/IEC 15693."
            ),
            ServedCall(
                name: "NFCVASReaderSession",
                support: .no,
                reason: "Readers that find tags by themselves do not send the VAS polling frame."
            ),
            ServedCall(
                name: "CardSession",
                support: .yes,
                reason: "The chip is an ISO/IEC 14443-4 Type A card for other readers."
            ),
        ]
    }
}
