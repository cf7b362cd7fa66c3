import CatalogueContract
import Testing

@Suite struct TransactionContractTests {
    @Test(arguments: CatalogueContract.transactions + CatalogueContract.observation)
    func isKept(_ check: ContractCheck) async throws { try await expectKept(check) }
}
