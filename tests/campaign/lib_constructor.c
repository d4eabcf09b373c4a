/* A library whose constructor makes a communicator: with the loader's lock held. */
void campaign_in_constructor(void); /* of the driver */

__attribute__((constructor)) static void constructed(void)
{
    campaign_in_constructor();
}
