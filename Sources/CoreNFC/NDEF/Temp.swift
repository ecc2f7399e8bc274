import Foundation
extension NFCNDEFMessage {
    convenience init?(bytes: [UInt8]) { return nil }
    convenience init(parsing: [UInt8]) throws { self.init(records: []) }
    func encoded() throws -> [UInt8] { [] }
    var encodedLength: Int { 0 }
}
extension NFCReaderError {
    init(damagedMessage e: any Error) { self.init(.readerErrorInvalidParameter) }
    init(unwritableMessage e: any Error) { self.init(.readerErrorInvalidParameter) }
}
